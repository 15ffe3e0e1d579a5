//! Manifests are read as Kubernetes reads them, or refused.
//!
//! `readings.json` has a text a line, with what Kubernetes makes of it: the documents that a `YAMLOrJSONDecoder` of
//! `k8s.io/apimachinery` 0.36.0 (`pkg/util/yaml`, which `kubectl` reads files with) on `sigs.k8s.io/yaml` 1.6.0 decoded into a
//! `runtime.RawExtension`, empty documents left out, or `null` where it returned an error. `refused` is a part of our error for a text that
//! Kubernetes reads. `whole` texts are as they are; all others stand behind [`HEADER`].
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use helm_twins::{read_manifest, write_manifest};
use serde_json::{Value, json};

const HEADER: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

#[derive(serde::Deserialize)]
struct Reading {
    yaml: String,
    #[serde(default)]
    whole: bool,
    /// The documents, without what [`HEADER`] says.
    kubernetes: Option<Vec<Value>>,
    refused: Option<String>,
}

impl Reading {
    fn text(&self) -> String {
        if self.whole { self.yaml.clone() } else { format!("{HEADER}{}", self.yaml) }
    }

    /// What is wrong with our reading.
    fn fault(&self) -> Option<String> {
        let objects = match (read_manifest(&self.text()), &self.kubernetes, &self.refused) {
            (Err(_), None, None) => return None,
            (Err(error), Some(_), Some(expected)) if error.to_string().contains(expected) => return None,
            (Err(error), Some(read), None) => {
                return Some(format!("Kubernetes reads {}, here `{error}`", json!(read)));
            }
            (Err(error), _, Some(expected)) => {
                return Some(format!("expected `{expected}`, found `{error}`"));
            }
            (Ok(objects), _, _) => objects,
        };
        let values: Vec<Value> = objects.iter().map(|object| body(object.value())).collect();
        let read = json!(values);
        match (&self.kubernetes, &self.refused) {
            (Some(expected), None) if same(&read, &json!(expected)) => {}
            (Some(expected), None) => {
                return Some(format!("Kubernetes reads {}, here {read}", json!(expected)));
            }
            _ => return Some(format!("expected an error, found {read}")),
        }
        let written = write_manifest(&objects).unwrap();
        match read_manifest(&written) {
            Ok(again) if again == objects => None,
            other => Some(format!("written as {written:?}, which is read as {other:?}")),
        }
    }
}

/// An object without what [`HEADER`] says.
fn body(object: &Value) -> Value {
    let mut object = object.clone();
    for name in ["apiVersion", "kind", "metadata"] {
        object.as_object_mut().unwrap().remove(name);
    }
    object
}

/// JSON has one type of numbers: 1e16 is the same with and without its zeros.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() || other.is_f64() => {
            one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

#[test]
fn a_manifest_is_read_as_kubernetes_reads_it_or_refused() {
    let readings: Vec<Reading> = serde_json::from_str(include_str!("readings.json")).unwrap();
    let faults = readings.iter().filter_map(|reading| Some((&reading.yaml, reading.fault()?)));
    let faults: Vec<String> = faults.map(|(yaml, fault)| format!("{yaml:?}: {fault}")).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), readings.len(), faults.join("\n"));
}
