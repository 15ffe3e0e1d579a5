//! What differs between an object as it is and as it should be, field by field. Keys are compared and never shown.

use super::redaction::{inner, redacted_at};
use super::route_alignment::{Aligned, align, title};
use crate::object::Owners;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// The list of routes of a route object.
const ROUTES: [&str; 2] = ["spec", "http"];

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its path: `spec.subsets[0].name`. In a list of routes by their names: `spec.http["legacy"].timeout`, `spec.http[#2]`.
    pub path: String,
    /// The observed value; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The desired value; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
    /// Other field managers that have written the observed value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<String>,
    /// Of a route that is added: the existing route that it comes before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// The fields in which an observed object differs from the desired one, and those that we own and no longer desire.
pub(crate) fn differences(desired: &Value, observed: &Value) -> Vec<Field> {
    let owners = Owners::of(observed);
    let mut found = Walk { owners: &owners, fields: Vec::new() };
    found.compare(&mut Vec::new(), Some(&ours_to_write(desired)), Some(observed));
    found.removals(&mut Vec::new(), &owners.ours(observed), desired);
    found.fields
}

/// The fields that only these managers own: they are removed with their owner.
pub(crate) fn only_of(managers: &[String], desired: &Value, observed: &Value) -> Vec<Field> {
    let owners = Owners::of(observed);
    let mut theirs = owners.part(observed, |name| managers.iter().any(|manager| manager == name));
    if let Some(fields) = theirs.as_object_mut() {
        fields.retain(|name, _| name == "metadata" || name == "spec");
    }
    if let Some(metadata) = theirs.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| name == "labels" || name == "annotations");
    }
    let mut found = Walk { owners: &owners, fields: Vec::new() };
    found.removals(&mut Vec::new(), &theirs, desired);
    found.fields
}

/// Every field of a new object.
pub(crate) fn of_new(desired: &Value) -> Vec<Field> {
    let owners = Owners::default();
    let mut found = Walk { owners: &owners, fields: Vec::new() };
    found.compare(&mut Vec::new(), Some(&ours_to_write(desired)), None);
    found.fields
}

/// Name, namespace and kind are what the object is called, and no difference.
fn ours_to_write(desired: &Value) -> Value {
    let mut fields = desired.clone();
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|name, _| name == "labels" || name == "annotations");
        }
    }
    fields
}

struct Walk<'o> {
    owners: &'o Owners,
    fields: Vec<Field>,
}

impl Walk<'_> {
    /// Compares structures field by field: desired fields alone where fields can have
    /// other owners, into both sides' where they cannot (in lists, and in the configuration that is a text).
    fn compare(&mut self, path: &mut Vec<String>, to: Option<&Value>, from: Option<&Value>) {
        if to == from {
            return;
        }
        if let (Some(to), Some(from)) = (to.and_then(inner), from.and_then(inner)) {
            return self.compare(path, Some(&to), Some(&from));
        }
        match (to, from) {
            (Some(Value::Object(to)), Some(Value::Object(_)) | None) => {
                let shared = path.iter().any(|name| name.starts_with('['));
                let theirs = from.and_then(Value::as_object).filter(|_| shared);
                let names: BTreeSet<_> =
                    to.keys().chain(theirs.into_iter().flat_map(serde_json::Map::keys)).collect();
                for name in names {
                    path.push(name.clone());
                    self.compare(path, to.get(name), from.and_then(|from| from.get(name)));
                    path.pop();
                }
            }
            (Some(Value::Array(to)), Some(Value::Array(from))) if *path == ROUTES => {
                self.routes(path, to, from);
            }
            (Some(Value::Array(to)), Some(Value::Array(from))) => {
                for index in 0..to.len().max(from.len()) {
                    path.push(format!("[{index}]"));
                    self.compare(path, to.get(index), from.get(index));
                    path.pop();
                }
            }
            _ => self.note(path, from, to),
        }
    }

    /// By route and not by index: the routes behind one that is added are what they were.
    fn routes(&mut self, path: &mut Vec<String>, desired: &[Value], observed: &[Value]) {
        let aligned = align(desired, observed);
        for (at, one) in aligned.iter().enumerate() {
            let (route, index, to, from) = match *one {
                Aligned::Added { route, index } => (route, index, Some(route), None),
                Aligned::Removed { route, index } => (route, index, None, Some(route)),
                Aligned::Same { desired, observed, index } => (desired, index, Some(desired), Some(observed)),
            };
            path.push(format!("[{}]", title(route, index)));
            if from.is_some() && to.is_some() {
                self.compare(path, to, from);
            } else {
                self.note(path, from, to);
                let next = aligned.iter().skip(at).find_map(|next| match *next {
                    Aligned::Same { desired, index, .. } => Some(title(desired, index)),
                    _ => None,
                });
                if let Some(field) = self.fields.last_mut().filter(|_| from.is_none()) {
                    field.before = next;
                }
            }
            path.pop();
        }
    }

    fn removals(&mut self, path: &mut Vec<String>, ours: &Value, desired: &Value) {
        let (Some(ours), Some(desired)) = (ours.as_object(), desired.as_object()) else { return };
        for (name, value) in ours {
            path.push(name.clone());
            match desired.get(name) {
                Some(desired) => self.removals(path, value, desired),
                None => self.note(path, Some(value), None),
            }
            path.pop();
        }
    }

    fn note(&mut self, path: &[String], from: Option<&Value>, to: Option<&Value>) {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let shown = |value: Option<&Value>| value.map(|value| redacted_at(&names, value));
        let owners = if from.is_some() { self.owners.others(&names) } else { Vec::new() };
        self.fields.push(Field {
            path: joined(&names),
            from: shown(from),
            to: shown(to),
            owners: owners.into_iter().map(str::to_owned).collect(),
            before: None,
        });
    }
}

fn joined(path: &[&str]) -> String {
    let mut text = String::new();
    for name in path {
        if !text.is_empty() && !name.starts_with('[') {
            text.push('.');
        }
        text.push_str(name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(desired: &Value, observed: &Value) -> Vec<String> {
        differences(desired, observed).into_iter().map(|field| field.path).collect()
    }

    #[test]
    fn what_others_have_added_is_no_difference() {
        let desired = json!({"spec": {"host": "a", "subsets": [{"name": "v1"}]}});
        let observed = json!({
            "metadata": {"labels": {"team": "x"}},
            "spec": {"host": "a", "trafficPolicy": {"tls": {}}, "subsets": [{"name": "v1"}]},
        });
        assert_eq!(paths(&desired, &observed), [] as [&str; 0]);
    }

    #[test]
    fn in_a_list_everything_counts() {
        let desired = json!({"spec": {"subsets": [{"name": "v1"}, {"name": "v2"}]}});
        let observed = json!({"spec": {"subsets": [{"name": "v1", "labels": {"a": "b"}}]}});
        assert_eq!(paths(&desired, &observed), ["spec.subsets[0].labels", "spec.subsets[1].name"]);
    }

    #[test]
    fn routes_are_compared_by_route_so_that_unchanged_settings_are_no_difference() {
        let legacy = |subset: Value| json!({"name": "legacy", "timeout": "10s", "retries": {"attempts": 2}, "route": [{"destination": subset}]});
        let rest = json!({"route": [{"destination": {"host": "other"}}]});
        let observed = json!({"spec": {"http": [legacy(json!({"host": "a"})), rest]}});
        let stable = legacy(json!({"host": "a", "subset": "v1"}));
        let ours = |name: &str| json!({"name": name, "timeout": "10s"});
        let desired = json!({"spec": {"http": [ours("v1"), ours("v2"), stable, rest]}});
        let found = differences(&desired, &observed);
        let paths: Vec<&str> = found.iter().map(|field| field.path.as_str()).collect();
        let subset = "spec.http[\"legacy\"].route[0].destination.subset";
        assert_eq!(paths, ["spec.http[\"v1\"]", "spec.http[\"v2\"]", subset]);
        let places: Vec<_> = found.iter().map(|field| field.before.as_deref()).collect();
        assert_eq!(places, [Some("\"legacy\""), Some("\"legacy\""), None]);
    }

    #[test]
    fn what_was_ours_and_is_not_asked_for_any_more_goes() {
        let desired = json!({"spec": {"host": "a"}});
        let observed = json!({
            "metadata": {"managedFields": [{"manager": "canary-ctl", "fieldsV1": {"f:spec": {"f:host": {}, "f:trafficPolicy": {"f:tls": {}}}}}]},
            "spec": {"host": "a", "trafficPolicy": {"tls": {}}},
        });
        assert_eq!(paths(&desired, &observed), ["spec.trafficPolicy"]);
    }

    #[test]
    fn a_configuration_that_is_a_text_is_compared_field_by_field() {
        let object = |weight: u32| json!({"spec": {"configPatches": [{"value": format!("{{\"a\":{{\"weight\":{weight}}}}}")}]}});
        let found = differences(&object(20), &object(10));
        let field = Field {
            path: "spec.configPatches[0].value.a.weight".to_owned(),
            from: Some(10.into()),
            to: Some(20.into()),
            owners: Vec::new(),
            before: None,
        };
        assert_eq!(found, [field]);
    }
}
