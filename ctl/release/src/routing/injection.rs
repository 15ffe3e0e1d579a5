//! A route object of another owner, with our routes in it and without.

use super::RouteTargets;
use super::http_routes::{self, Unfit};
use crate::object::{FIELD_MANAGER, Object, Owners, Reference, Stage, TAKEN_FROM, applicable, restore};
use crate::plan::{Action, Change, ChangeReason, Error, edit_policy};
use crate::spec::ReleaseName;
use serde_json::{Value, json};

/// The desired route objects of a namespace: those of other owners that lead to the Service, with our routes before
/// theirs.
///
/// # Errors
///
/// If none leads to the Service, or a route cannot be edited.
pub fn edits(targets: &RouteTargets, route_objects: &[Value]) -> Result<Vec<Object>, Error> {
    let mut objects = Vec::new();
    for seen in leading(targets, route_objects) {
        objects.push(desired(&Reference::of(seen)?, seen, targets)?);
    }
    if objects.is_empty() {
        return Err(Error::NothingToEdit { service: targets.service.clone() });
    }
    Ok(objects)
}

/// Those of others that lead to the Service.
pub(crate) fn leading<'v>(
    targets: &'v RouteTargets,
    route_objects: &'v [Value],
) -> impl Iterator<Item = &'v Value> {
    route_objects.iter().filter(|seen| !is_ours(seen) && http_routes::leads(http(seen), targets))
}

/// Whether one of these route objects, which are not ours, serves the Service's own name inside the mesh: Istio
/// merges none there.
pub fn covers_mesh(targets: &RouteTargets, route_objects: &[Value]) -> bool {
    route_objects.iter().filter(|seen| !is_ours(seen)).any(|seen| {
        let gateways = texts(seen, "gateways");
        let is_inside = gateways.is_empty() || gateways.iter().any(|gateway| gateway == "mesh");
        is_inside && texts(seen, "hosts").iter().any(|host| targets.ends_at(host))
    })
}

/// The change of one of them, as its record desires it. Fails if its owner has written it since and is a tool that
/// would do so again.
pub(crate) fn edited(
    object: &Reference,
    seen: &Value,
    targets: &RouteTargets,
) -> Result<Option<Change>, Error> {
    let change = Change::between(&desired(object, seen, targets)?, Some(seen));
    if change.is_some() {
        edit_policy::check_owner(object, seen)?;
    }
    Ok(change)
}

/// The change that removes our routes; with the last of them the owner's fields are returned. `None` if we own nothing
/// of it.
pub(crate) fn undone(object: &Reference, seen: &Value, targets: &RouteTargets) -> Option<Change> {
    let before = http_routes::undo(http(seen), targets);
    let is_last = !http_routes::is_edited(&before);
    if is_last && !restore::is_touched(seen) && before == http(seen) {
        return None;
    }
    let action = if is_last { Action::Restore } else { Action::Update };
    if before == http(seen) {
        return is_last.then(|| Change {
            stage: Stage::Edits,
            object: object.clone(),
            action,
            why: ChangeReason::Returned,
            fields: Vec::new(),
            body: Value::Null,
            seen: None,
            claim: None,
        });
    }
    let mut body = applicable(seen);
    set(&mut body, before, &restore::taken_from(seen));
    let desired = Object { reference: object.clone(), stage: Stage::Edits, body };
    let change = Change::between(&desired, Some(seen))?;
    Some(Change { action, why: ChangeReason::Returned, ..change })
}

/// Whether we have been here before.
pub(crate) fn was_edited(seen: &Value) -> bool {
    seen.pointer("/metadata/annotations").is_some_and(|all| all.get(TAKEN_FROM).is_some())
}

/// Other field managers that have written the routes of an object that we had edited.
pub(crate) fn lost_to(seen: &Value) -> Vec<String> {
    Owners::of(seen).others(&["spec", "http"]).into_iter().map(str::to_owned).collect()
}

/// Whether our routes to a version are missing in an object.
pub fn is_lost(seen: &Value, targets: &RouteTargets, version: &str) -> bool {
    !http_routes::carries(http(seen), targets, version)
}

fn desired(object: &Reference, seen: &Value, targets: &RouteTargets) -> Result<Object, Error> {
    let unfit = |Unfit { route, obstacle }| Error::Uneditable { object: object.to_string(), route, obstacle };
    let after = http_routes::edit(http(seen), targets).map_err(unfit)?;
    let mut body = applicable(seen);
    set(&mut body, after, &restore::taken_from(seen));
    Ok(Object { reference: object.clone(), stage: Stage::Edits, body })
}

fn set(body: &mut Value, http: Vec<Value>, taken_from: &str) {
    for (path, name, value) in
        [("spec", "http", Value::from(http)), ("annotations", TAKEN_FROM, Value::from(taken_from))]
    {
        let parent = if path == "spec" { Some(&mut *body) } else { body.get_mut("metadata") };
        let fields = parent.and_then(Value::as_object_mut);
        let place = fields.map(|fields| fields.entry(path).or_insert_with(|| json!({})));
        if let Some(place) = place.and_then(Value::as_object_mut) {
            place.insert(name.to_owned(), value);
        }
    }
}

/// A list of texts of its specification.
pub(crate) fn texts(seen: &Value, field: &str) -> Vec<String> {
    let list = seen.get("spec").and_then(|spec| spec.get(field)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

pub(crate) fn http(seen: &Value) -> &[Value] {
    seen.pointer("/spec/http").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether routes of a release were injected into an object.
pub(crate) fn has_injected_route(object: &Value, release: &ReleaseName) -> bool {
    http_routes::is_edited_for(http(object), &release.to_string())
}

/// Whether canary-ctl has made the object.
pub(crate) fn is_ours(seen: &Value) -> bool {
    let label =
        seen.pointer("/metadata/labels").and_then(|labels| labels.get("app.kubernetes.io/managed-by"));
    label.and_then(Value::as_str) == Some(FIELD_MANAGER)
}
