//! Parts of a schema: what a value may be.

use serde_json::{Map, Value, json};

/// A field of a mapping.
pub(super) struct SchemaField {
    name: &'static str,
    schema: Value,
    is_required: bool,
}

/// A field that has to be there.
pub(super) fn required(name: &'static str, schema: Value) -> SchemaField {
    SchemaField { name, schema, is_required: true }
}

/// A field that may be left out, or be empty.
pub(super) fn optional(name: &'static str, schema: Value) -> SchemaField {
    SchemaField { name, schema: or_nothing(schema), is_required: false }
}

/// A mapping with these fields and no others.
pub(super) fn mapping(description: &str, fields: Vec<SchemaField>) -> Value {
    let is_required = |field: &&SchemaField| field.is_required;
    let needed: Vec<&str> = fields.iter().filter(is_required).map(|field| field.name).collect();
    let mut schema = json!({"description": description, "type": "object", "additionalProperties": false});
    if !needed.is_empty() {
        set(&mut schema, "required", json!(needed));
    }
    let properties: Map<String, Value> =
        fields.into_iter().map(|field| (field.name.to_owned(), field.schema)).collect();
    set(&mut schema, "properties", properties.into());
    schema
}

/// A text. YAML reads some as numbers, and the tool as they were written: a version `1.10`.
pub(super) fn text(description: &str) -> Value {
    json!({"description": description, "type": ["string", "number", "boolean"]})
}

/// A text of this form.
pub(super) fn pattern(description: &str, pattern: &str) -> Value {
    json!({"description": description, "type": "string", "pattern": pattern})
}

/// A DNS label: the name of a namespace, a Service or a subset.
pub(crate) const LABEL: &str = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";

/// A DNS label; `7` and `true` are some, too.
pub(super) fn label(description: &str) -> Value {
    json!({"description": description, "type": ["string", "integer", "boolean"], "minimum": 0, "pattern": LABEL})
}

pub(super) fn words<T>(description: &str, table: &[(&str, T)]) -> Value {
    let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
    json!({"description": description, "enum": words})
}

/// `true` or `false`.
pub(super) fn flag(description: &str) -> Value {
    json!({"description": description, "type": ["boolean", "string"], "pattern": "^(true|false)$"})
}

/// A percentage in steps of 0.01: `20`, `12.5`, `"0.25%"`.
pub(super) fn percentage(description: &str) -> Value {
    json!({
        "description": description,
        "type": ["number", "string"],
        "minimum": 0,
        "maximum": 100,
        "pattern": r"^\s*[0-9]*(\.[0-9]+)?\s*%*\s*$",
    })
}

/// A duration: `90s`, `30m`, `1h30m`, `7d`.
pub(super) fn duration(description: &str) -> Value {
    json!({
        "description": description,
        "type": "string",
        "minLength": 2,
        "pattern": r"^\s*([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?\s*$",
        "allOf": [{"pattern": "[1-9]"}],
    })
}

/// The time of a response, or a percentile: `500ms`, `p95`.
pub(super) fn slower_than(description: &str) -> Value {
    json!({
        "description": description,
        "type": "string",
        "minLength": 2,
        "pattern": r"^\s*([1-9][0-9]{0,5}ms|[1-9][0-9]{0,2}s|p9[059])\s*$",
    })
}

/// A number: `99`, `-0.5`, `"1e3"`.
pub(super) fn number(description: &str) -> Value {
    json!({
        "description": description,
        "type": ["number", "string"],
        "pattern": r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$",
    })
}

/// A whole number from `least` to `most`.
pub(super) fn integer(description: &str, least: u64, most: Option<u64>) -> Value {
    let mut schema = json!({
        "description": description,
        "type": ["integer", "string"],
        "minimum": least,
        "pattern": r"^\+?[0-9]+$",
    });
    if let Some(most) = most {
        set(&mut schema, "maximum", json!(most));
    }
    schema
}

/// An address with a port: `127.0.0.1:8080`, `"[::1]:8080"`.
pub(super) fn address(description: &str) -> Value {
    json!({
        "description": description,
        "type": "string",
        "pattern": r"^(\[[0-9A-Fa-f:.%]+\]|[0-9.]+):[0-9]+$",
    })
}

pub(super) fn list(description: &str, items: Value) -> Value {
    let mut schema = json!({"description": description, "type": "array"});
    set(&mut schema, "items", items);
    schema
}

/// A mapping whose names are the user's.
pub(super) fn map_of(description: &str, values: Value) -> Value {
    let mut schema = json!({"description": description, "type": "object"});
    set(&mut schema, "additionalProperties", values);
    schema
}

pub(super) fn set(schema: &mut Value, keyword: &str, value: Value) {
    if let Value::Object(keywords) = schema {
        keywords.insert(keyword.to_owned(), value);
    }
}

/// The same, or an empty field.
fn or_nothing(mut schema: Value) -> Value {
    let Value::Object(keywords) = &mut schema else { return schema };
    if let Some(words) = keywords.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    } else if let Some(any) = keywords.get_mut("anyOf").and_then(Value::as_array_mut) {
        any.push(json!({"type": "null"}));
    } else if let Some(kind) = keywords.get_mut("type") {
        match kind {
            Value::Array(kinds) => kinds.push("null".into()),
            kind => *kind = json!([kind.take(), "null"]),
        }
    }
    schema
}
