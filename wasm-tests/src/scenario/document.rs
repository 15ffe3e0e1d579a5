//! A `canary.yaml` as a user would write it, kept as a value that tests change field by field.

use serde_json::{Value, json};

/// A `canary.yaml`. JSON is YAML, so it is written as JSON.
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    value: Value,
}

impl Document {
    /// `shop/<name>` for the whole shop: `v1` stable, `v2` canary at weight 0, sessions in `JSESSIONID` that stay on
    /// their version and, by `sessionAffinity: identity`, on their pod; testers by token.
    pub fn session(name: &str) -> Self {
        let value = json!({
            "apiVersion": "canary-ctl.io/v1alpha1",
            "kind": "Release",
            // The same in every Envoy of a test: a uid drawn in one would make its pins strangers in the other.
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {
                "uid": format!("{name:z<12}"),
                "versions": {"stable": "v1", "canary": "v2"},
                "hosts": [super::HOST],
                "stickiness": "session",
                "session": {"cookie": "JSESSIONID"},
                "identifyBy": [{"cookie": "JSESSIONID"}],
                "override": "token",
                "sessionAffinity": "identity",
                "delivery": {"mode": "local", "local": {"directory": "."}},
            },
        });
        Self { name: format!("shop/{name}"), value }
    }

    /// As [`Document::session`], but users move when the weight does.
    pub fn user(name: &str) -> Self {
        Self::session(name).with("/spec/stickiness", "user")
    }

    /// An existing `canary.yaml`, e.g. one of the examples.
    pub fn from_value(value: Value) -> Self {
        let field = |name| value.pointer(name).and_then(Value::as_str).unwrap_or_default();
        Self { name: format!("{}/{}", field("/metadata/namespace"), field("/metadata/name")), value }
    }

    /// Sets a field by its JSON pointer, whose parent must exist: `/spec/weight`.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        self.set(pointer, value);
        self
    }

    /// Sets a field by its JSON pointer; `null` removes it. Nothing happens where its parent is not there.
    pub fn set(&mut self, pointer: &str, value: impl Into<Value>) {
        let (parent, field) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        let Some(parent) = self.value.pointer_mut(parent).and_then(Value::as_object_mut) else { return };
        match value.into() {
            Value::Null => drop(parent.remove(field)),
            value => drop(parent.insert(field.to_owned(), value)),
        }
    }

    /// The same under another name in the same namespace.
    #[must_use]
    pub fn renamed(self, name: &str) -> Self {
        Self::from_value(self.with("/metadata/name", name).value)
    }

    /// A field by its JSON pointer; `null` where there is none.
    pub fn get(&self, pointer: &str) -> Value {
        self.value.pointer(pointer).cloned().unwrap_or_default()
    }

    /// `<namespace>/<name>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the file that it is written to.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.yaml", self.name.replace('/', "."))
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        self.value.to_string()
    }
}
