//! A JSON Schema of `canary.yaml` as a structural schema.
//!
//! # Source
//! [Specifying a structural schema](https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema):
//! each value has one type, and what is said of several fields together has none.

use serde_json::{Map, Value, json};

/// The longest DNS label.
const MAX_LABEL: u64 = 63;

/// The same values, as far as one type for each can say it.
pub(super) fn structural(schema: &Value) -> Value {
    let mut of = Map::new();
    copy(schema, &["description"], &mut of);
    if let Some(forms) = schema.get("anyOf").and_then(Value::as_array) {
        union(forms, &mut of);
    } else if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        // The API server takes no `null` for a word, and leaves out a field with it where it is not nullable.
        let words: Vec<&Value> = words.iter().filter(|word| !word.is_null()).collect();
        of.insert("type".to_owned(), "string".into());
        of.insert("enum".to_owned(), json!(words));
    } else {
        typed(schema, &mut of);
    }
    of.into()
}

fn copy(from: &Value, keywords: &[&str], to: &mut Map<String, Value>) {
    for keyword in keywords {
        if let Some(value) = from.get(keyword) {
            to.insert((*keyword).to_owned(), value.clone());
        }
    }
}

/// The types that a value may have.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    }
}

fn is_nullable(schema: &Value) -> bool {
    types(schema).contains(&"null")
}

/// A scalar that is read as its text is a text: the API server never sees how a number was written. Another one has the type that it is listed with first.
fn type_of(schema: &Value) -> &str {
    let types = types(schema);
    let is_text = types.contains(&"boolean") && types.iter().any(|kind| ["number", "integer"].contains(kind));
    if is_text { "string" } else { types.first().copied().unwrap_or("string") }
}

fn typed(schema: &Value, of: &mut Map<String, Value>) {
    let kind = type_of(schema);
    of.insert("type".to_owned(), kind.into());
    if is_nullable(schema) {
        of.insert("nullable".to_owned(), true.into());
    }
    match kind {
        "array" => {
            copy(schema, &["minItems", "maxItems"], of);
            of.insert("x-kubernetes-list-type".to_owned(), "atomic".into());
            of.insert("items".to_owned(), schema.get("items").map(structural).unwrap_or_default());
        }
        "object" => fields(schema, of),
        "string" => {
            copy(schema, &["minLength", "maxLength", "pattern", "allOf"], of);
            if schema.get("pattern").is_some_and(|pattern| *pattern == crate::spec::LABEL_PATTERN) {
                of.insert("maxLength".to_owned(), MAX_LABEL.into());
            }
        }
        _ => copy(schema, &["minimum", "maximum"], of),
    }
}

fn fields(schema: &Value, of: &mut Map<String, Value>) {
    copy(schema, &["required"], of);
    if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
        of.insert("additionalProperties".to_owned(), structural(values));
    }
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        of.insert("properties".to_owned(), properties(fields));
    }
}

fn properties(fields: &Map<String, Value>) -> Value {
    fields.iter().map(|(name, field)| (name.clone(), structural(field))).collect::<Map<_, _>>().into()
}

/// Values of several types have none here. A bound applies to values of one type alone, so its negation tells which one a value has: what
/// is not of at most 0 fields is a mapping.
fn union(forms: &[Value], of: &mut Map<String, Value>) {
    of.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
    if forms.iter().any(|form| is_nullable(form) || has_null(form)) {
        of.insert("nullable".to_owned(), true.into());
    }
    let mut any = Vec::new();
    for form in forms.iter().filter(|form| form.get("type") != Some(&json!("null"))) {
        copy_within(form, of);
        any.extend(tests(form));
    }
    of.insert("anyOf".to_owned(), any.into());
}

fn has_null(form: &Value) -> bool {
    form.get("enum").and_then(Value::as_array).is_some_and(|words| words.contains(&Value::Null))
}

/// The fields of a form have their type at the union itself.
fn copy_within(form: &Value, of: &mut Map<String, Value>) {
    if let Some(fields) = form.get("properties").and_then(Value::as_object) {
        of.insert("properties".to_owned(), properties(fields));
    }
    if let Some(items) = form.get("items") {
        of.insert("items".to_owned(), structural(items));
    }
}

/// Whether a value has this form.
fn tests(form: &Value) -> Vec<Value> {
    if let Some(words) = form.get("enum").and_then(Value::as_array) {
        let words: Vec<&Value> = words.iter().filter(|word| !word.is_null()).collect();
        return vec![json!({"enum": words})];
    }
    match type_of(form) {
        "object" => mappings(form),
        "array" => vec![json!({"not": {"maxItems": 0}})],
        _ => vec![json!({"not": {"maxLength": 0}})],
    }
}

/// Whether a value is a mapping with the fields of this form and no others: one test for each set of fields that it may have.
fn mappings(form: &Value) -> Vec<Value> {
    let names = |keyword: &str| -> Vec<String> {
        let names = form.get(keyword).and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let required = names("required");
    let all = form.get("properties").and_then(Value::as_object).into_iter().flatten();
    let others = all.map(|(name, _)| name).filter(|name| !required.contains(name));
    let mut sets = vec![required.clone()];
    for other in others {
        let with = sets.iter().map(|set| set.iter().cloned().chain([other.clone()]).collect());
        sets = sets.clone().into_iter().chain(with.collect::<Vec<_>>()).collect();
    }
    let bound = |keyword: &str| {
        form.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok())
    };
    let (least, most) = (bound("minProperties").unwrap_or(0), bound("maxProperties").unwrap_or(usize::MAX));
    let fits = |set: &Vec<String>| (least..=most).contains(&set.len());
    let exactly =
        |set: Vec<String>| json!({"not": {"maxProperties": 0}, "maxProperties": set.len(), "required": set});
    sets.into_iter().filter(fits).map(exactly).collect()
}
