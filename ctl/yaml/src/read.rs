//! Reading without faults: a reader of objects of others takes what it understands.

use super::tree::{Entry, Node, Value};

impl Node {
    /// The field of this name, of a mapping.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == name)
    }

    /// The fields; none if it is no mapping.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The items; none if it is no sequence.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The value at a path of names between dots.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, name| node.get(name))
    }

    /// A scalar that is more than nothing.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text, _) if self.kind() != "nothing" => Some(text),
            _ => None,
        }
    }

    /// The scalar under a name, unless it is nothing.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    /// The finite number under a name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Whether `true` is under a name.
    pub fn is_true(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// The items under a name.
    pub fn list(&self, name: &str) -> &[Self] {
        self.get(name).map_or(&[], Self::items)
    }

    /// True if it sets nothing: no value, an empty one, false or zero.
    pub fn is_off(&self) -> bool {
        match &self.value {
            Value::Scalar(text, _) => self.kind() == "nothing" || matches!(text.as_str(), "" | "false" | "0"),
            Value::Sequence(items) => items.is_empty(),
            Value::Mapping(entries) => entries.is_empty(),
        }
    }

    /// The same as JSON, scalars as YAML 1.2 reads them.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Scalar(text, is_plain) => scalar(text, *is_plain),
            Value::Sequence(items) => items.iter().map(Self::to_json).collect(),
            Value::Mapping(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
            }
        }
    }
}

fn scalar(text: &str, is_plain: bool) -> serde_json::Value {
    let number = || {
        let begins = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
        begins.then(|| text.parse::<serde_json::Number>().ok()).flatten()
    };
    match text {
        _ if !is_plain => text.into(),
        "" | "~" | "null" => serde_json::Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => number().map_or_else(|| text.into(), serde_json::Value::Number),
    }
}
