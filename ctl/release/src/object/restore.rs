//! The former owners of `spec.http`, and how it is returned to them.
//!
//! The next server-side apply of an owner conflicts while another field manager has the field. So our entry of
//! `managedFields` is removed with our last route, and the owner's entry has the field again.
//!
//! # Source
//! Kubernetes, *Server-Side Apply*, "Transferring ownership" and "Clearing managedFields".

use super::FIELD_MANAGER;
use super::TAKEN_FROM;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One entry of `managedFields`, by what it is known by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    manager: String,
    operation: String,
    api_version: String,
}

impl Owner {
    fn of(entry: &Value) -> Option<Self> {
        let text = |field: &str| entry.get(field).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            manager: text("manager")?,
            operation: text("operation")?,
            api_version: text("apiVersion")?,
        })
    }
}

/// The field managers that own `spec.http` now, or owned it before us.
pub(crate) fn taken_from(seen: &Value) -> String {
    let theirs: Vec<Owner> = entries(seen)
        .iter()
        .filter(|entry| has_routes(entry))
        .filter_map(Owner::of)
        .filter(is_theirs)
        .collect();
    if theirs.is_empty()
        && let Some(before) = annotation(seen)
    {
        return before.to_owned();
    }
    serde_json::to_string(&theirs).unwrap_or_default()
}

/// Whether the list of routes is ours.
pub(crate) fn is_taken(seen: &Value) -> bool {
    entries(seen)
        .iter()
        .any(|entry| has_routes(entry) && Owner::of(entry).is_some_and(|owner| !is_theirs(&owner)))
}

/// Whether something of an object is ours.
pub(crate) fn is_touched(seen: &Value) -> bool {
    let ours = |entry: &Value| Owner::of(entry).is_some_and(|owner| !is_theirs(&owner));
    annotation(seen).is_some() || entries(seen).iter().any(ours)
}

/// The patch (RFC 7396) after which we own no field of an object: its routes belong again to the owners that were
/// recorded when they were taken over. Has the `resourceVersion` from which it was computed.
pub fn restore_ownership(seen: &Value) -> Value {
    let owners: Vec<Owner> =
        annotation(seen).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let mut fields: Vec<Value> = entries(seen)
        .iter()
        .filter(|entry| Owner::of(entry).is_none_or(|owner| is_theirs(&owner)))
        .cloned()
        .collect();
    // A manager that has written it since owns it.
    if !fields.iter().any(has_routes) {
        for owner in owners {
            give(&mut fields, &owner);
        }
    }
    json!({"metadata": {
        "resourceVersion": seen.pointer("/metadata/resourceVersion").cloned().unwrap_or_default(),
        "annotations": {TAKEN_FROM: null},
        "managedFields": fields,
    }})
}

fn give(fields: &mut Vec<Value>, owner: &Owner) {
    let is_theirs =
        |entry: &&mut Value| Owner::of(entry).as_ref() == Some(owner) && entry.get("subresource").is_none();
    if let Some(entry) = fields.iter_mut().find(is_theirs) {
        let spec = entry.pointer_mut("/fieldsV1").and_then(Value::as_object_mut);
        let spec =
            spec.and_then(|fields| fields.entry("f:spec").or_insert_with(|| json!({})).as_object_mut());
        if let Some(spec) = spec {
            spec.insert("f:http".to_owned(), Value::Object(Map::new()));
        }
        return;
    }
    let Owner { manager, operation, api_version } = owner;
    fields.push(json!({
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:http": {}}},
    }));
}

fn entries(seen: &Value) -> &[Value] {
    seen.pointer("/metadata/managedFields").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn annotation(seen: &Value) -> Option<&str> {
    seen.pointer("/metadata/annotations")?.get(TAKEN_FROM)?.as_str()
}

fn has_routes(entry: &Value) -> bool {
    entry.pointer("/fieldsV1/f:spec/f:http").is_some()
}

fn is_theirs(owner: &Owner) -> bool {
    owner.manager != FIELD_MANAGER
}
