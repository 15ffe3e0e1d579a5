//! The field managers of an object's fields, from `metadata.managedFields`.
//!
//! A path in it is `f:spec: {f:configPatches: {}}`: `f:` and a field's name, an empty set where the field is owned whole.
//! Our templates have no lists whose items are owned one by one, so `k:` and `v:` keys are not followed.

use super::FIELD_MANAGER;
use serde_json::{Map, Value, json};

/// The owners of an object's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owners {
    managers: Vec<(String, Value)>,
}

impl Owners {
    /// Reads them from an object as the API server gives it.
    pub fn of(body: &Value) -> Self {
        let entries = body.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
        let manager = |entry: &Value| {
            let name = entry.get("manager")?.as_str()?;
            Some((name.to_owned(), entry.get("fieldsV1")?.clone()))
        };
        Self { managers: entries.filter_map(manager).collect() }
    }

    /// The other field managers that own this field, or a part of it. The path is the names from the object's root.
    pub fn others(&self, path: &[&str]) -> Vec<&str> {
        let owns = |(name, fields): &&(String, Value)| name != FIELD_MANAGER && owns(fields, path);
        let mut names: Vec<_> = self.managers.iter().filter(owns).map(|(name, _)| name.as_str()).collect();
        names.dedup();
        names
    }

    /// The other field managers that own an existing part of this field.
    pub(crate) fn having(&self, body: &Value, path: &[&str]) -> Vec<&str> {
        let has = |name: &&str| {
            let part = self.part(body, |other| other == *name);
            path.iter().try_fold(&part, |part, field| part.get(*field)).is_some()
        };
        let names = self.managers.iter().map(|(name, _)| name.as_str());
        names.filter(|name| *name != FIELD_MANAGER).filter(has).collect()
    }

    /// The fields of an object that we own.
    pub fn ours(&self, body: &Value) -> Value {
        self.part(body, |name| name == FIELD_MANAGER)
    }

    /// The part of an object that these managers own.
    pub(crate) fn part(&self, body: &Value, is_one: impl Fn(&str) -> bool) -> Value {
        let mut part = Value::Object(Map::new());
        for (_, fields) in self.managers.iter().filter(|(name, _)| is_one(name)) {
            merge(&mut part, owned_part(fields, body));
        }
        part
    }
}

fn owns(fields: &Value, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    match fields.as_object() {
        Some(fields) if fields.is_empty() => true,
        Some(fields) => fields.get(&format!("f:{first}")).is_some_and(|inner| owns(inner, rest)),
        None => false,
    }
}

fn owned_part(fields: &Value, body: &Value) -> Value {
    let named = |(key, inner): (&String, &Value)| Some((key.strip_prefix("f:")?.to_owned(), inner.clone()));
    let inner: Vec<_> = fields.as_object().into_iter().flatten().filter_map(named).collect();
    match body {
        Value::Object(values) if !inner.is_empty() => {
            let part = |(name, inner): (String, Value)| {
                values.get(&name).map(|value| (name, owned_part(&inner, value)))
            };
            Value::Object(inner.into_iter().filter_map(part).collect())
        }
        whole => whole.clone(),
    }
}

pub(crate) fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The part of an observed object that we apply again: its name, and the fields that we own. The rest belongs to the
/// API server or to other field managers.
pub(crate) fn applicable(observed: &Value) -> Value {
    let mut body = Owners::of(observed).ours(observed);
    let metadata = observed.get("metadata");
    let field = |name: &str| metadata.and_then(|metadata| metadata.get(name)).cloned().unwrap_or_default();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("apiVersion".to_owned(), observed.get("apiVersion").cloned().unwrap_or_default());
        fields.insert("kind".to_owned(), observed.get("kind").cloned().unwrap_or_default());
        let ours = fields.entry("metadata").or_insert_with(|| json!({}));
        if let Some(ours) = ours.as_object_mut() {
            ours.extend(Map::from_iter(["name", "namespace"].map(|name| (name.to_owned(), field(name)))));
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object() -> Value {
        json!({
            "metadata": {"name": "a", "labels": {"ours": "x", "theirs": "y"}, "managedFields": [
                {"manager": "canary-ctl", "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:ours": {}}},
                    "f:spec": {"f:configPatches": {}},
                }},
                {"manager": "helm", "fieldsV1": {"f:metadata": {"f:labels": {"f:theirs": {}}}, "f:spec": {"f:priority": {}}}},
            ]},
            "spec": {"configPatches": [{"a": 1}], "priority": 3},
        })
    }

    #[test]
    fn our_fields_are_separated_from_those_of_others() {
        let owners = Owners::of(&object());
        let ours = json!({"metadata": {"labels": {"ours": "x"}}, "spec": {"configPatches": [{"a": 1}]}});
        assert_eq!(owners.ours(&object()), ours);
        assert_eq!(owners.others(&["spec", "priority"]), ["helm"]);
        assert_eq!(owners.others(&["spec", "configPatches"]), [] as [&str; 0]);
        assert_eq!(owners.others(&["metadata", "labels"]), ["helm"]);
    }

    #[test]
    fn who_owns_a_list_owns_everything_in_it() {
        let body = json!({"metadata": {"managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {"f:http": {}}}}]}});
        assert_eq!(Owners::of(&body).others(&["spec", "http", "0", "route"]), ["x"]);
    }
}
