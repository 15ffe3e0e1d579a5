//! Definitions that are older or newer than the controller.

use super::*;
use serde_json::json;

/// A change of the definition, and the fields that it then lacks, and has.
type Case = (fn(&mut Value), &'static [&'static str], &'static [&'static str]);

#[test]
fn a_definition_is_compared_by_its_fields_and_words() {
    let cases: [Case; 7] = [
        (|_| {}, &[], &[]),
        (|schema| schema["description"] = json!("another text"), &[], &[]),
        (
            |schema| {
                drop(schema["properties"]["spec"]["properties"].as_object_mut().unwrap().remove("rollout"));
            },
            &["spec.rollout"],
            &[],
        ),
        (
            |schema| {
                let gateways = &mut schema["properties"]["spec"]["properties"]["gateways"]["items"];
                gateways["properties"].as_object_mut().unwrap().remove("selector");
            },
            &["spec.gateways.selector"],
            &[],
        ),
        (
            |schema| schema["properties"]["spec"]["properties"]["colour"] = json!({"type": "string"}),
            &[],
            &["spec.colour"],
        ),
        (
            |schema| schema["properties"]["status"]["properties"]["phase"]["enum"] = json!(["Stable"]),
            &["status.phase: Installing"],
            &[],
        ),
        (
            |schema| {
                let status = &mut schema["properties"]["status"]["properties"];
                status["phase"]["enum"].as_array_mut().unwrap().push(json!("Frozen"));
                status.as_object_mut().unwrap().remove("driver");
            },
            &["status.driver"],
            &["status.phase: Frozen"],
        ),
    ];
    for (change, missing, unknown) in cases {
        let mut definition = crd();
        change(definition.pointer_mut(SCHEMA).unwrap());
        let found = DefinitionDifference::of(&definition).unwrap_or_default();
        assert_eq!(found.missing.first().map(String::as_str), missing.first().copied(), "{found:?}");
        assert_eq!(found.unknown, unknown, "{found:?}");
        assert_eq!(found == DefinitionDifference::default(), missing.is_empty() && unknown.is_empty());
    }
}
