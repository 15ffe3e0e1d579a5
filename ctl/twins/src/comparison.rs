//! What counts as a difference between an object of two versions of a chart.
//!
//! Labels and annotations that change with every version of a chart do not, or no object would be shared.

use crate::Object;
use crate::object::Key;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The field, as `kubectl explain` writes it; `[0]` behind a list.
    pub field: String,
    /// The value of stable; `None` if it has none.
    pub stable: Option<Value>,
    /// The value of the candidate.
    pub candidate: Option<Value>,
}

const CHART_LABELS: [&str; 5] =
    ["helm.sh/chart", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "heritage", "chart"];
const CHART_ANNOTATIONS: [&str; 4] =
    ["checksum/", "meta.helm.sh/", "canary-ctl.io/", "postrenderer.helm.sh/"];

/// An object without what does not count: those labels and annotations, empty values, the order of fields.
pub(crate) fn normalized(object: &Object) -> Value {
    let mut value = object.value().clone();
    if object.kind() == "Secret" {
        encode_string_data(&mut value);
    }
    if let Some(metadata) = value.pointer_mut("/metadata") {
        remove_chart_metadata(metadata);
    }
    for pointer in ["/spec/template/metadata", "/spec/jobTemplate/spec/template/metadata"] {
        if let Some(metadata) = value.pointer_mut(pointer) {
            remove_chart_metadata(metadata);
        }
    }
    value
}

fn remove_chart_metadata(metadata: &mut Value) {
    let Some(metadata) = metadata.as_object_mut() else { return };
    for (field, is_chart) in [
        ("labels", &(|name: &str| CHART_LABELS.contains(&name)) as &dyn Fn(&str) -> bool),
        ("annotations", &|name: &str| CHART_ANNOTATIONS.iter().any(|start| name.starts_with(start))),
    ] {
        let Some(Value::Object(map)) = metadata.get_mut(field) else { continue };
        map.retain(|name, _| !is_chart(name));
        if map.is_empty() {
            metadata.remove(field);
        }
    }
    metadata.remove("creationTimestamp");
}

/// `stringData` is another way to write `data`, and overrides it.
fn encode_string_data(secret: &mut Value) {
    let Some(Value::Object(texts)) = secret.as_object_mut().and_then(|map| map.remove("stringData")) else {
        return;
    };
    for (name, text) in texts {
        let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
        crate::object::set(secret, &["data", &name], Value::String(encoded));
    }
}

/// The fields in which two objects differ, name and namespace left out.
pub fn differences(stable: &Object, candidate: &Object) -> Vec<Difference> {
    let mut found = Vec::new();
    let (mut stable, mut candidate) = (normalized(stable), normalized(candidate));
    for value in [&mut stable, &mut candidate] {
        if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
            metadata.remove("name");
            // Of two objects of one release it can only be left out.
            metadata.remove("namespace");
        }
    }
    compare("", Some(&stable), Some(&candidate), &mut found);
    found
}

/// The first field in which two values differ, below `field`; nothing is left out.
pub(crate) fn first_difference(field: &str, stable: &Value, candidate: &Value) -> Option<String> {
    let mut found = Vec::new();
    compare(field, Some(stable), Some(candidate), &mut found);
    found.into_iter().next().map(|one| one.field)
}

/// The same of two ConfigMaps or Secrets, without what their pods do not see: metadata.
pub(crate) fn content_differences(stable: &Object, candidate: &Object) -> Vec<Difference> {
    let mut found = differences(stable, candidate);
    found.retain(|one| CONTENT.iter().any(|field| one.field.split('.').next() == Some(field)));
    found
}

/// The ConfigMaps and Secrets in which two renders of the same input differ: a random function of the chart made them.
pub fn random_configuration(rendered: &[Object], again: &[Object]) -> Vec<String> {
    let again: BTreeMap<Key, &Object> = again.iter().map(|other| (other.key(""), other)).collect();
    let is_random = |object: &&Object| {
        let other = again.get(&object.key(""));
        ["ConfigMap", "Secret"].contains(&object.kind())
            && other.is_some_and(|other| !differences(object, other).is_empty())
    };
    rendered.iter().filter(is_random).map(|object| object.name().to_owned()).collect()
}

fn compare(field: &str, stable: Option<&Value>, candidate: Option<&Value>, found: &mut Vec<Difference>) {
    match (stable, candidate) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let new = b.keys().filter(|name| !a.contains_key(*name));
            for name in a.keys().chain(new) {
                let path = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                compare(&path, a.get(name), b.get(name), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for index in 0..a.len().max(b.len()) {
                compare(&format!("{field}[{index}]"), a.get(index), b.get(index), found);
            }
        }
        (a, b) if is_same(a, b) => {}
        (a, b) => {
            found.push(Difference { field: field.to_owned(), stable: a.cloned(), candidate: b.cloned() });
        }
    }
}

/// `null` and a field that is not there are the same to Kubernetes.
fn is_same(a: Option<&Value>, b: Option<&Value>) -> bool {
    a.filter(|value| !value.is_null()) == b.filter(|value| !value.is_null())
}

/// The content of a ConfigMap or Secret.
const CONTENT: [&str; 4] = ["type", "data", "binaryData", "immutable"];

/// The content of a ConfigMap or Secret as 8 hexadecimal digits: of the SHA-256 of kind, the chart's name, type and data.
pub(crate) fn content_hash(object: &Object) -> String {
    let value = normalized(object);
    let mut content = Map::new();
    for field in CONTENT {
        if let Some(value) = value.get(field).filter(|value| !value.is_null()) {
            content.insert(field.to_owned(), sorted(value));
        }
    }
    let text = format!("{}\0{}\0{}", object.kind(), object.chart_name(), Value::Object(content));
    let mut hash = String::with_capacity(8);
    for byte in Sha256::digest(text.as_bytes()).iter().take(4) {
        let _infallible = write!(hash, "{byte:02x}");
    }
    hash
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            Value::Object(entries.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(body: &Value) -> Object {
        let mut object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
        for (name, value) in body.as_object().unwrap() {
            object[name] = value.clone();
        }
        Object::new(object).unwrap()
    }

    #[test]
    fn the_labels_of_a_chart_version_and_the_form_of_a_secret_do_not_count() {
        let a = secret(
            &json!({"data": {"b": "eA=="}, "metadata": {"name": "a", "labels": {"helm.sh/chart": "x-1"}}}),
        );
        let b = secret(
            &json!({"stringData": {"b": "x"}, "metadata": {"name": "a", "annotations": {"checksum/c": "1"}}}),
        );
        assert_eq!(differences(&a, &b), []);
        assert_eq!(content_hash(&a), content_hash(&b));
    }

    #[test]
    fn each_field_that_differs_is_named_with_both_values() {
        let a = secret(&json!({"data": {"b": "eA==", "c": "eA=="}}));
        let b = secret(&json!({"data": {"b": "eQ==", "d": "eA=="}, "type": null}));
        let found: Vec<_> =
            differences(&a, &b).into_iter().map(|one| (one.field, one.stable, one.candidate)).collect();
        assert_eq!(
            found,
            [
                ("data.b".to_owned(), Some(json!("eA==")), Some(json!("eQ=="))),
                ("data.c".to_owned(), Some(json!("eA==")), None),
                ("data.d".to_owned(), None, Some(json!("eA=="))),
            ]
        );
        assert_ne!(content_hash(&a), content_hash(&b));
    }

    #[test]
    fn the_hash_of_content_does_not_depend_on_the_order_of_keys() {
        let (a, b) =
            (secret(&json!({"data": {"x": "1", "y": "2"}})), secret(&json!({"data": {"y": "2", "x": "1"}})));
        assert_eq!(content_hash(&a), content_hash(&b));
    }
}
