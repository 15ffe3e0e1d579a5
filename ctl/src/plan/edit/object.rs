//! A `VirtualService` of somebody else, with our routes in it and without.

use super::routes::{self, Unfit};
use super::{TAKEN_FROM, Ways, consent, owners};
use crate::manifest::Stage;
use crate::plan::config_update::applicable;
use crate::plan::{Action, Change, Error, FIELD_MANAGER, Object, Owners, Reference, Why};
use serde_json::{Value, json};

/// What becomes of the `VirtualService`s of a namespace: those of others that lead to the Service, ours before theirs.
///
/// Fails where none does, and on a route that cannot be edited.
pub fn edits(ways: &Ways, virtual_services: &[Value]) -> Result<Vec<Object>, Error> {
    let mut objects = Vec::new();
    for seen in leading(ways, virtual_services) {
        objects.push(desired(&Reference::of(seen)?, seen, ways)?);
    }
    if objects.is_empty() {
        return Err(Error::NothingToEdit { service: ways.service.clone() });
    }
    Ok(objects)
}

/// Those of others that lead to the Service.
pub(super) fn leading<'v>(ways: &'v Ways, virtual_services: &'v [Value]) -> impl Iterator<Item = &'v Value> {
    virtual_services.iter().filter(|seen| !is_ours(seen) && routes::leads(http(seen), ways))
}

/// Whether one of these `VirtualService`s, which are not ours, answers inside the mesh for the Service's own name: Istio
/// merges none there.
pub fn covers_mesh(ways: &Ways, virtual_services: &[Value]) -> bool {
    virtual_services.iter().filter(|seen| !is_ours(seen)).any(|seen| {
        let gateways = texts(seen, "gateways");
        let is_inside = gateways.is_empty() || gateways.iter().any(|gateway| gateway == "mesh");
        is_inside && texts(seen, "hosts").iter().any(|host| ways.ends_at(host))
    })
}

/// The change of one of them, as its record asks for it. Fails where its owner has written it since and is a tool that
/// would do so again.
pub(crate) fn edited(object: &Reference, seen: &Value, ways: &Ways) -> Result<Option<Change>, Error> {
    let change = Change::between(&desired(object, seen, ways)?, Some(seen));
    if change.is_some() {
        consent::judge(object, seen)?;
    }
    Ok(change)
}

/// The change that takes our routes out; with the last of them the object is its owner's again. `None` where nothing of
/// it is ours.
pub(crate) fn undone(object: &Reference, seen: &Value, ways: &Ways) -> Option<Change> {
    let before = routes::undo(http(seen), ways);
    let is_last = !routes::is_edited(&before);
    if is_last && !owners::is_touched(seen) && before == http(seen) {
        return None;
    }
    let action = if is_last { Action::HandBack } else { Action::Update };
    if before == http(seen) {
        return is_last.then(|| Change {
            stage: Stage::Edits,
            object: object.clone(),
            action,
            why: Why::Returned,
            fields: Vec::new(),
            body: Value::Null,
            seen: None,
            claim: None,
        });
    }
    let mut body = applicable(seen);
    set(&mut body, before, &owners::taken_from(seen));
    let desired = Object { reference: object.clone(), stage: Stage::Edits, body };
    let change = Change::between(&desired, Some(seen))?;
    Some(Change { action, why: Why::Returned, ..change })
}

/// Whether we have been here before.
pub(crate) fn was_edited(seen: &Value) -> bool {
    seen.pointer("/metadata/annotations").is_some_and(|all| all.get(TAKEN_FROM).is_some())
}

/// Who else has written the routes of an object that we had edited.
pub(crate) fn lost_to(seen: &Value) -> Vec<String> {
    Owners::of(seen).others(&["spec", "http"]).into_iter().map(str::to_owned).collect()
}

/// Whether our routes to a version are missing in an object.
pub fn is_lost(seen: &Value, ways: &Ways, version: &str) -> bool {
    !routes::carries(http(seen), ways, version)
}

fn desired(object: &Reference, seen: &Value, ways: &Ways) -> Result<Object, Error> {
    let unfit =
        |Unfit { route, found, hint }| Error::Uneditable { object: object.to_string(), route, found, hint };
    let after = routes::edit(http(seen), ways).map_err(unfit)?;
    let mut body = applicable(seen);
    set(&mut body, after, &owners::taken_from(seen));
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
pub(super) fn texts(seen: &Value, field: &str) -> Vec<String> {
    let list = seen.get("spec").and_then(|spec| spec.get(field)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

pub(super) fn http(seen: &Value) -> &[Value] {
    seen.pointer("/spec/http").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether canary-ctl has made the object.
pub(super) fn is_ours(seen: &Value) -> bool {
    let label =
        seen.pointer("/metadata/labels").and_then(|labels| labels.get("app.kubernetes.io/managed-by"));
    label.and_then(Value::as_str) == Some(FIELD_MANAGER)
}
