//! The values of a file, and what the schema says of each.

use serde_json::Value;

/// The pointers to all values of a file.
fn pointers(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| pointers(value, format!("{pointer}/{name}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| pointers(value, format!("{pointer}/{index}"), found));
        }
        _ => {}
    }
    found.push(pointer);
}

pub(crate) fn all_pointers(file: &Value) -> Vec<String> {
    let mut found = Vec::new();
    pointers(file, String::new(), &mut found);
    found
}

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
