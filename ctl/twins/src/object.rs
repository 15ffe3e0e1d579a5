//! An object of Kubernetes, and what marks it as a twin.

use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt;

/// The annotation with the name that the chart gives the object. What has it, has another name.
pub const CHART_NAME: &str = "canary-ctl.io/chart-name";
/// The annotation with the version that a workload or its autoscaler belongs to.
pub const VERSION: &str = canary_release::plan::VERSION_ANNOTATION;

/// An object of Kubernetes: it has `apiVersion`, `kind` and `metadata.name`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Object(Value);

/// API group, kind, namespace and name; the namespace is empty for an object that is in the release's or in none.
pub(crate) type Key = (String, String, String, String);

impl Object {
    /// The object of a JSON value.
    ///
    /// # Errors
    ///
    /// The field that is missing or no text.
    pub fn new(value: Value) -> Result<Self, &'static str> {
        for (field, pointer) in
            [("apiVersion", "/apiVersion"), ("kind", "/kind"), ("metadata.name", "/metadata/name")]
        {
            let text = value.pointer(pointer).and_then(Value::as_str);
            if text.is_none_or(str::is_empty) {
                return Err(field);
            }
        }
        Ok(Self(value))
    }

    /// The object as JSON.
    pub fn value(&self) -> &Value {
        &self.0
    }

    pub(crate) fn value_mut(&mut self) -> &mut Value {
        &mut self.0
    }

    /// The text at a JSON pointer; empty if there is none.
    pub(crate) fn text(&self, pointer: &str) -> &str {
        text_of(self.0.pointer(pointer))
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        text_of(self.0.get("kind"))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.metadata("name")
    }

    fn metadata(&self, field: &str) -> &str {
        text_of(self.0.get("metadata").and_then(|metadata| metadata.get(field)))
    }

    /// Whether it is in this namespace, the release's, or in none. Many charts leave out the namespace of the release, and some
    /// only in one of two versions.
    pub(crate) fn is_in(&self, namespace: &str) -> bool {
        ["", namespace].contains(&self.metadata("namespace"))
    }

    /// The API group; empty for the core group.
    fn group(&self) -> &str {
        text_of(self.0.get("apiVersion")).split_once('/').map_or("", |(group, _)| group)
    }

    /// Whether its kind is none of Kubernetes: the groups of those have no dot, or end in `k8s.io`, which the Gateway API and VPA have too.
    pub(crate) fn is_custom(&self) -> bool {
        let group = self.group();
        group.contains('.')
            && (!group.ends_with(".k8s.io")
                || ["gateway.networking.k8s.io", "autoscaling.k8s.io"].contains(&group))
    }

    /// The version that it belongs to, if it is that of one alone.
    pub fn version(&self) -> Option<&str> {
        self.annotation(VERSION)
    }

    pub(crate) fn annotation(&self, name: &str) -> Option<&str> {
        self.0.get("metadata")?.get("annotations")?.get(name)?.as_str()
    }

    /// The name that the chart gives it.
    pub(crate) fn chart_name(&self) -> &str {
        self.annotation(CHART_NAME).unwrap_or_else(|| self.name())
    }

    /// Whether it has a name of its own, and not the chart's.
    pub(crate) fn is_twin(&self) -> bool {
        self.annotation(CHART_NAME).is_some()
    }

    /// Its key as it is deployed, for a release in this namespace.
    pub(crate) fn key(&self, namespace: &str) -> Key {
        let other = if self.is_in(namespace) { "" } else { self.metadata("namespace") };
        let [group, kind, other, name] = [self.group(), self.kind(), other, self.name()].map(str::to_owned);
        (group, kind, other, name)
    }

    /// The same with the chart's name for it.
    pub(crate) fn chart_key(&self, namespace: &str) -> Key {
        let (group, kind, other, _) = self.key(namespace);
        (group, kind, other, self.chart_name().to_owned())
    }

    /// Gives it a name of its own, and writes down the chart's.
    pub(crate) fn rename(&mut self, name: &str) {
        if name == self.name() {
            return;
        }
        let chart_name = self.chart_name().to_owned();
        self.annotate(CHART_NAME, &chart_name);
        self.set(&["metadata", "name"], json!(name));
    }

    pub(crate) fn annotate(&mut self, name: &str, value: &str) {
        self.set(&["metadata", "annotations", name], json!(value));
    }

    /// Sets a field; mappings on the way that are missing are made.
    pub(crate) fn set(&mut self, path: &[&str], value: Value) {
        set(&mut self.0, path, value);
    }

    /// The kind of hook that Helm runs it as; empty for an object that is no hook.
    pub(crate) fn hook(&self) -> &str {
        self.annotation("helm.sh/hook").unwrap_or_default()
    }
}

fn text_of(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// Sets a field of a value; what is no mapping on the way is replaced by one.
pub(crate) fn set(value: &mut Value, path: &[&str], new: Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = new;
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    if let Value::Object(map) = value {
        set(map.entry((*first).to_owned()).or_insert(Value::Null), rest, new);
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}
