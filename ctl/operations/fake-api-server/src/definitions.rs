//! The definition of a kind and its objects: fields that it lacks are dropped, words that it does not know are refused.

use serde_json::Value;

const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema";

/// The schema of a kind among definitions.
pub(crate) fn schema_of<'d>(definitions: impl Iterator<Item = &'d Value>, kind: &Value) -> Option<&'d Value> {
    let mut ours = definitions.filter(|definition| definition.pointer("/spec/names/kind") == Some(kind));
    ours.next()?.pointer(SCHEMA)
}

/// Drops the fields that a schema lacks.
pub(crate) fn prune(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let Some(known) = schema.get("properties") else { return };
            fields.retain(|name, _| known.get(name).is_some());
            fields.iter_mut().for_each(|(name, field)| prune(&known[name], field));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prune(&schema["items"], item)),
        _ => {}
    }
}

/// The first value that is none of an enumeration.
pub(crate) fn refusal(schema: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        return Some(format!("{path}: Unsupported value: {value}"));
    }
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            refusal(schema.get("properties")?.get(name)?, field, &format!("{path}.{name}"))
        }),
        Value::Array(items) => items.iter().find_map(|item| refusal(schema.get("items")?, item, path)),
        _ => None,
    }
}
