//! The `CustomResourceDefinition` has each field of the JSON Schema, and no other. What it accepts: `wasm-tests/tests/api/resource/`.

use canary_release::resource::crd;
use canary_release::spec::json_schema;
use serde_json::Value;
use std::collections::BTreeMap;

const OBJECT: &str = "/spec/versions/0/schema/openAPIV3Schema";

/// The fields below a schema with their descriptions, those of each form of a union too.
fn fields(schema: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        if let Some(description) = field["description"].as_str() {
            found.insert(path.clone(), description.to_owned());
        }
        fields(field, &path, found);
    }
    for form in schema["anyOf"].as_array().into_iter().flatten() {
        fields(form, path, found);
    }
    for (keyword, part) in [("items", "[]"), ("additionalProperties", "*")] {
        if schema[keyword].is_object() {
            fields(&schema[keyword], &format!("{path}.{part}"), found);
        }
    }
}

fn fields_of(schema: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    fields(schema, "", &mut found);
    found
}

#[test]
fn the_definition_has_each_field_of_the_schema_with_its_description_and_no_other() {
    let (schema, crd) = (json_schema(), crd());
    let wanted = fields_of(&schema["properties"]["spec"]);
    assert!(wanted.len() > 100, "{} fields", wanted.len());
    assert_eq!(fields_of(&crd.pointer(OBJECT).unwrap()["properties"]["spec"]), wanted);
}

#[test]
fn each_field_of_the_status_is_optional_and_has_a_description() {
    let crd = crd();
    let status = &crd.pointer(OBJECT).unwrap()["properties"]["status"];
    assert!(status.get("required").is_none(), "{status}");
    let described = fields_of(status);
    let mut all = Vec::new();
    names(status, "", &mut all);
    let missing: Vec<_> = all.iter().filter(|name| !described.contains_key(*name)).collect();
    assert!(
        all.len() > 40 && missing.is_empty(),
        "of {} fields without a description: {missing:?}",
        all.len()
    );
}

fn names(schema: &Value, path: &str, found: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        found.push(path.clone());
        names(field, &path, found);
        names(&field["items"], &format!("{path}.[]"), found);
    }
}
