//! The part of the schema about each value of a file.

use serde_json::Value;

/// What the schema says of the value at a pointer: of several forms the one that the value has.
pub(crate) fn node<'s>(schema: &'s Value, file: &Value, pointer: &str) -> &'s Value {
    let (mut schema, mut value) = (schema, file);
    for part in pointer.split('/').skip(1) {
        schema = if value.is_array() {
            &form(schema, "array")["items"]
        } else {
            let object = form(schema, "object");
            object["properties"].get(part).unwrap_or(&object["additionalProperties"])
        };
        value = value.get(part).unwrap_or_else(|| &value[part.parse::<usize>().unwrap()]);
    }
    match value {
        Value::Object(_) => form(schema, "object"),
        Value::Array(_) => form(schema, "array"),
        _ => schema,
    }
}

/// The form of a schema that is for values of this type.
fn form<'s>(schema: &'s Value, kind: &str) -> &'s Value {
    let is_form = |schema: &&Value| schema["type"] == kind || schema["type"][0] == kind;
    if is_form(&schema) {
        return schema;
    }
    schema["anyOf"]
        .as_array()
        .and_then(|forms| forms.iter().find(is_form))
        .unwrap_or_else(|| panic!("{kind}: {schema}"))
}
