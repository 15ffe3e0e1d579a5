//! Field managers: the owner of each field, the conflicts of a server-side apply, and the fields that it removes. Lists
//! are atomic, as they are in Istio's kinds.
//!
//! # Source
//! [Server-Side Apply](https://kubernetes.io/docs/reference/using-api/server-side-apply/)

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The names of nested fields.
type Path = Vec<String>;
type Fields = BTreeSet<Path>;

/// The object after a server-side apply; field and owner of each conflict if there are any.
pub(super) fn applied(
    manager: &str,
    found: Option<&Value>,
    body: &Value,
    force: bool,
) -> Result<Value, Vec<(String, String)>> {
    let mut after = found.cloned().unwrap_or_else(|| json!({"metadata": {}}));
    let mut owners = found.map(owners).unwrap_or_default();
    let wanted = leaves(body);
    let differs = |path: &Path| found.is_some_and(|found| at(found, path) != at(body, path));
    let mut conflicts = Vec::new();
    for ((owner, _), fields) in owners.iter_mut().filter(|((owner, _), _)| owner != manager) {
        let taken: Fields =
            fields.iter().filter(|path| wanted.contains(*path) && differs(path)).cloned().collect();
        conflicts.extend(taken.iter().map(|path| (format!(".{}", path.join(".")), owner.clone())));
        fields.retain(|path| !taken.contains(path));
    }
    if !conflicts.is_empty() && !force {
        return Err(conflicts);
    }
    let entry = owners.entry((manager.to_owned(), "Apply".to_owned())).or_default();
    let before = std::mem::replace(entry, wanted.clone());
    for path in before.difference(&wanted) {
        if !owners.values().any(|fields| fields.contains(path)) {
            remove(&mut after, path);
        }
    }
    for path in &wanted {
        set(&mut after, path, at(body, path).cloned().unwrap_or_default());
    }
    for name in ["apiVersion", "kind"] {
        after[name] = body[name].clone();
    }
    for name in ["name", "namespace"] {
        after["metadata"][name] = body["metadata"][name].clone();
    }
    write_owners(&mut after, owners);
    Ok(after)
}

/// The object after any other write: what it changes belongs to its manager.
pub(super) fn updated(manager: &str, found: Option<&Value>, mut after: Value) -> Value {
    let mut owners = found.map(owners).unwrap_or_default();
    if let Some(metadata) = after["metadata"].as_object_mut() {
        // Empty maps are not stored.
        metadata.retain(|_, value| value.as_object().is_none_or(|fields| !fields.is_empty()));
    }
    // A write of `managedFields` replaces them.
    if let Some(found) = found
        && after["metadata"]["managedFields"] != found["metadata"]["managedFields"]
        && after["metadata"]["managedFields"].is_array()
    {
        owners = self::owners(&after);
    }
    let all = leaves(&after);
    let changed: Fields = all
        .iter()
        .filter(|path| found.and_then(|found| at(found, path)) != at(&after, path))
        .cloned()
        .collect();
    for fields in owners.values_mut() {
        fields.retain(|path| all.contains(path) && !changed.contains(path));
    }
    if !changed.is_empty() {
        owners.entry((manager.to_owned(), "Update".to_owned())).or_default().extend(changed);
    }
    write_owners(&mut after, owners);
    after
}

/// The paths of all fields that can be owned.
fn leaves(body: &Value) -> Fields {
    let mut leaves = Fields::new();
    collect(body, &mut Vec::new(), &mut leaves);
    let is_owned = |path: &Path| match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["apiVersion" | "kind" | "status", ..] => false,
        ["metadata", field, ..] => matches!(field, "labels" | "annotations" | "finalizers"),
        _ => true,
    };
    leaves.retain(is_owned);
    leaves
}

fn collect(value: &Value, path: &mut Path, leaves: &mut Fields) {
    match value.as_object().filter(|fields| !fields.is_empty()) {
        Some(fields) => {
            for (name, value) in fields {
                path.push(name.clone());
                collect(value, path, leaves);
                path.pop();
            }
        }
        None => drop(leaves.insert(path.clone())),
    }
}

fn at<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

fn set(value: &mut Value, path: &Path, to: Value) {
    let mut place = value;
    for name in path {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[name.as_str()];
    }
    *place = to;
}

/// Removes a field, and the objects that are empty without it.
fn remove(value: &mut Value, path: &[String]) {
    let Some((name, rest)) = path.split_first() else { return };
    let Some(fields) = value.as_object_mut() else { return };
    if rest.is_empty() {
        fields.shift_remove(name);
    } else if let Some(inner) = fields.get_mut(name) {
        remove(inner, rest);
        if inner.as_object().is_some_and(Map::is_empty) {
            fields.shift_remove(name);
        }
    }
}

/// Manager and operation, and their fields.
type Owners = BTreeMap<(String, String), Fields>;

fn owners(object: &Value) -> Owners {
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let owner = |entry: &Value| {
        let mut fields = Fields::new();
        read_fields(&entry["fieldsV1"], &mut Vec::new(), &mut fields);
        ((text(&entry["manager"]), text(&entry["operation"])), fields)
    };
    entries.iter().map(owner).collect()
}

fn read_fields(tree: &Value, path: &mut Path, fields: &mut Fields) {
    let inner = tree
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, tree)| Some((name.strip_prefix("f:")?, tree)));
    let mut is_leaf = true;
    for (name, tree) in inner {
        is_leaf = false;
        path.push(name.to_owned());
        read_fields(tree, path, fields);
        path.pop();
    }
    if is_leaf && !path.is_empty() {
        fields.insert(path.clone());
    }
}

fn write_owners(object: &mut Value, owners: Owners) {
    let api_version = object["apiVersion"].clone();
    let entry = |((manager, operation), fields): ((String, String), Fields)| {
        let mut tree = json!({});
        for path in fields {
            let path: Path = path.iter().map(|name| format!("f:{name}")).collect();
            set(&mut tree, &path, json!({}));
        }
        json!({"manager": manager, "operation": operation, "apiVersion": api_version, "fieldsType": "FieldsV1",
            "fieldsV1": tree, "time": "2026-11-01T00:00:00Z"})
    };
    let entries: Vec<Value> =
        owners.into_iter().filter(|(_, fields)| !fields.is_empty()).map(entry).collect();
    object["metadata"]["managedFields"] = json!(entries);
}
