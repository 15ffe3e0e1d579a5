//! A route object of another owner, with our routes in it and without.
//!
//! `spec.http` is one atomic list: the writer of one route owns all of them. So the list is taken over from its owner,
//! which is recorded in an annotation, and returned by `uninstall`. The names of our routes contain what is needed to
//! undo an edit, next to the routes that they belong to: if the owner reorders the list meanwhile, the edit can still
//! be undone.

use crate::object::{Object, Reference, Stage, TAKEN_FROM, applicable, restore};
use crate::plan::{Action, Change, ChangeReason, Error, edit_policy};
use crate::routing::virtual_service_routes::{self, Unfit};
use crate::routing::{RouteTargets, http, leading};
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
    let before = virtual_service_routes::undo(http(seen), targets);
    let is_last = !virtual_service_routes::is_edited(&before);
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

fn desired(object: &Reference, seen: &Value, targets: &RouteTargets) -> Result<Object, Error> {
    let unfit = |Unfit { route, obstacle }| Error::Uneditable { object: object.to_string(), route, obstacle };
    let after = virtual_service_routes::edit(http(seen), targets).map_err(unfit)?;
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
