//! Places within a structural schema: `rollout.plans.*.[].weight`.

use serde_json::{Map, Value};

/// The schema at a place: `*` is each value of a mapping, `[]` each item of a list, `|0` the first form of a union, and another part a field.
pub(super) fn at<'s>(schema: &'s mut Value, place: &str) -> Option<&'s mut Map<String, Value>> {
    let mut schema = schema;
    for part in place.split('.').filter(|part| !part.is_empty()) {
        let pointer = match (part, part.strip_prefix('|')) {
            ("*", _) => "/additionalProperties".to_owned(),
            ("[]", _) => "/items".to_owned(),
            (_, Some(form)) => format!("/anyOf/{form}"),
            (field, None) => format!("/properties/{field}"),
        };
        schema = schema.pointer_mut(&pointer)?;
    }
    schema.as_object_mut()
}
