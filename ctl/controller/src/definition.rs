//! The definition of `Release` in the cluster beside that of this controller: Helm and people upgrade them apart.
//!
//! The API server drops fields that its definition lacks, and refuses objects with words that it does not know. So an object may lack what its
//! author has written, and a status may be refused.

use canary_release::resource::crd;
use serde_json::Value;

/// The condition of an object by which users see that the definition is another one.
pub(crate) const CONDITION: &str = "DefinitionCurrent";
/// The place of the fields.
const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema";

/// The difference of the definition in the cluster from that of this controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionDifference {
    /// The fields that only this controller knows, each as `spec.name`.
    pub missing: Vec<String>,
    /// Those that only the definition has.
    pub unknown: Vec<String>,
}

impl DefinitionDifference {
    /// The difference of a definition; `None` where the fields are the same.
    pub fn of(definition: &Value) -> Option<Self> {
        let ours = crd();
        let (ours, theirs) = (ours.pointer(SCHEMA)?, definition.pointer(SCHEMA)?);
        let mut difference = Self::default();
        lacking(theirs, ours, "", &mut difference.missing);
        lacking(ours, theirs, "", &mut difference.unknown);
        (difference != Self::default()).then_some(difference)
    }

    /// The reason of the condition.
    pub(crate) const fn reason(&self) -> &'static str {
        if self.missing.is_empty() { "Newer" } else { "Older" }
    }

    /// Its message.
    pub(crate) fn message(&self) -> String {
        let (missing, unknown) = (self.missing.join(", "), self.unknown.join(", "));
        let dropped = format!(
            "expected the definition of Release of this controller, found one without {missing}: the API server drops these fields"
        );
        let refused = format!(
            "expected the definition of Release of this controller, found one with {unknown}: the controller does not know these fields"
        );
        match (self.missing.is_empty(), self.unknown.is_empty()) {
            (true, _) => refused,
            (_, true) => dropped,
            (false, false) => format!("{dropped}; {refused}"),
        }
    }
}

/// The outermost fields, and the words of an enumeration, that a schema lacks and another has.
fn lacking(schema: &Value, other: &Value, path: &str, found: &mut Vec<String>) {
    if let (Some(words), Some(others)) = (words(schema), words(other)) {
        let new = others.iter().filter(|word| !words.contains(word));
        found.extend(new.map(|word| format!("{path}: {}", word.as_str().unwrap_or_default())));
    }
    for (name, field) in other.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match schema.get("properties").and_then(|fields| fields.get(name)) {
            Some(known) => lacking(known, field, &at, found),
            // Without fields of its own it takes any.
            None if schema.get("properties").is_some() => found.push(at),
            None => {}
        }
    }
    for inner in ["items", "additionalProperties"] {
        if let (Some(known), Some(field)) = (schema.get(inner), other.get(inner)) {
            lacking(known, field, path, found);
        }
    }
}

fn words(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("enum")?.as_array()
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
