//! The `CustomResourceDefinition` of `canary.yaml`, from the same table as its JSON Schema.

mod status;
mod structural;

use crate::spec::{API_VERSION, KIND, json_schema};
use serde_json::{Value, json};
use structural::structural;

/// The API group of releases, and their version.
fn group_and_version() -> (&'static str, &'static str) {
    API_VERSION.split_once('/').unwrap_or_default()
}

/// The definition.
pub fn crd() -> Value {
    let (group, version) = group_and_version();
    let (singular, plural) = ("release", "releases");
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "names": {
                "kind": KIND,
                "listKind": format!("{KIND}List"),
                "plural": plural,
                "singular": singular,
                "shortNames": ["crel"],
                "categories": ["canary"],
            },
            "scope": "Namespaced",
            "versions": [{
                "name": version,
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": columns(),
                "schema": {"openAPIV3Schema": schema()},
            }],
        },
    })
}

fn columns() -> Value {
    let column = |name: &str, kind: &str, description: &str, path: &str| json!({"name": name, "type": kind, "description": description, "jsonPath": path});
    json!([
        column("STABLE", "string", "The version that everyone else is on.", ".status.stable"),
        column("CANARY", "string", "The version under test.", ".status.canary"),
        column("WEIGHT", "number", "The share of users that is asked for, in percent.", ".status.weight"),
        column("SEEN", "number", "The share of users that was seen, in percent.", ".status.seen"),
        column("PHASE", "string", "What is done with the release.", ".status.phase"),
        column("AGE", "date", "The time since it was created.", ".metadata.creationTimestamp"),
    ])
}

/// What an object may be. Its metadata are those of Kubernetes, so only its name has a rule of its own.
fn schema() -> Value {
    let file = json_schema();
    let of = |pointer: &str| file.pointer(pointer).cloned().unwrap_or_default();
    json!({
        "description": of("/description"),
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"description": of("/properties/apiVersion/description"), "type": "string"},
            "kind": {"description": of("/properties/kind/description"), "type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(&of("/properties/spec")),
            "status": status::status(),
        },
    })
}
