//! The `CustomResourceDefinition` of `canary.yaml`, from the same table as its JSON Schema.

mod bounds;
mod place;
mod rules;
mod status;
mod structural;

use crate::object::Reference;
use crate::spec::{API_VERSION, KIND, ReleaseName, json_schema};
use serde_json::{Value, json};
use structural::structural;

/// The API group of releases, and their version.
fn group_and_version() -> (&'static str, &'static str) {
    API_VERSION.split_once('/').unwrap_or_default()
}

/// The object of a release.
pub fn object_of(release: &ReleaseName) -> Reference {
    Reference::new(API_VERSION, KIND, release.namespace.as_str(), release.name.as_str())
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

/// The fields of an object. Its metadata are those of Kubernetes, so only its name has a rule of its own.
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
            "spec": spec().0,
            "status": status::status(),
        },
        "x-kubernetes-validations": rules::object_rules(),
    })
}

/// The fields of `spec`, and the places of rules that it does not have.
fn spec() -> (Value, Vec<String>) {
    let mut spec = structural(json_schema().pointer("/properties/spec").unwrap_or(&Value::Null));
    let missing = [bounds::add_bounds(&mut spec), rules::add_rules(&mut spec)].concat();
    (spec, missing)
}

#[cfg(test)]
mod tests {
    /// A rule at a place that is gone would be none.
    #[test]
    fn each_rule_is_about_a_value_of_the_schema() {
        let (_, missing) = super::spec();
        assert_eq!(missing, Vec::<String>::new());
    }
}
