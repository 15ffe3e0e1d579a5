//! A release's routes and subsets after its versions have changed roles: what a promotion and a rollback write.
//!
//! Computed from the objects and not from the release's file, as a weight is: only the default routes change, and the
//! objects of removed versions are deleted. Everything else stays as it was applied.

use crate::object::{Object, Reference, Stage, applicable};
use crate::plan::{Change, Error, MissingObject, Plan, edited};
use crate::record::{OwnedObject, Record};
use crate::spec::{Routes, version_subset};
use assignment::contract::Role;
use serde_json::Value;
use std::collections::BTreeMap;

/// The plan that sets every default route of a release to its stable version, and deletes the routes, then the subsets
/// of removed versions that are not leaving any more.
///
/// # Errors
///
/// If a route object does not exist or has no default route: `apply` was not completed.
pub fn reroute(release: &str, record: &Record, observed: &BTreeMap<Reference, Value>) -> Result<Plan, Error> {
    let mut changes = Vec::new();
    let existing = |kept: &OwnedObject| existing(release, record, kept, observed);
    if record.routes == Routes::GatewayApi {
        // The default is the owner's, and each version has objects of its own.
        return Ok(Plan { changes: removal_of_left(release, record, observed), ..Plan::default() });
    }
    for kept in of_stage(&record.objects, Stage::Routes) {
        let routed = |routes| routed(release, record, routes);
        changes.extend(rewritten(release, kept, existing(kept)?, "http", routed)?);
    }
    let targets = record.route_targets(release);
    for kept in of_stage(&record.objects, Stage::Edits) {
        changes.extend(edited(&kept.1, existing(kept)?, &targets)?);
    }
    for kept in of_stage(&record.objects, Stage::Subsets) {
        let narrowed = |subsets| Ok(narrowed(record, subsets));
        changes.extend(rewritten(release, kept, existing(kept)?, "subsets", narrowed)?);
    }
    Ok(Plan { changes, ..Plan::default() })
}

/// The deletion of what versions that have left had for themselves: routes first, then what they lead to.
pub(crate) fn removal_of_left(
    release: &str,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
) -> Vec<Change> {
    let left = record.objects.iter().filter(|(_, object)| record.is_of_left_version(release, object));
    let mut changes: Vec<Change> =
        left.filter_map(|(stage, object)| Change::leaving(*stage, object, observed.get(object))).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.stage));
    changes
}

fn existing<'o>(
    release: &str,
    record: &Record,
    (stage, reference): &OwnedObject,
    observed: &'o BTreeMap<Reference, Value>,
) -> Result<&'o Value, Error> {
    let missing = || Box::new(MissingObject::of(release, record, (*stage, reference), observed));
    Ok(observed.get(reference).ok_or_else(missing)?)
}

fn of_stage(kept: &[OwnedObject], stage: Stage) -> impl Iterator<Item = &OwnedObject> {
    kept.iter().filter(move |(of, _)| *of == stage)
}

/// The change of one list of an object. We own the whole list, also after another field manager has written into it.
fn rewritten(
    release: &str,
    (stage, reference): &OwnedObject,
    seen: &Value,
    list: &str,
    rewrite: impl Fn(Vec<Value>) -> Result<Vec<Value>, &'static str>,
) -> Result<Option<Change>, Error> {
    let missing =
        |found| Error::NotCarried { release: release.to_owned(), object: reference.to_string(), found };
    let before = seen.get("spec").and_then(|spec| spec.get(list)).and_then(Value::as_array);
    let after = rewrite(before.cloned().unwrap_or_default()).map_err(missing)?;
    let mut body = applicable(seen);
    if let Some(fields) = body.as_object_mut() {
        let spec = fields.entry("spec").or_insert_with(|| Value::Object(serde_json::Map::new()));
        if let Some(spec) = spec.as_object_mut() {
            spec.insert(list.to_owned(), after.into());
        }
    }
    let desired = Object { reference: reference.clone(), stage: *stage, body };
    Ok(Change::between(&desired, Some(seen)))
}

/// Routes are known by their names: `<release>/<version>` by header, `<release>` for everything else.
fn routed(release: &str, record: &Record, routes: Vec<Value>) -> Result<Vec<Value>, &'static str> {
    let stable = record.state.version_of(Role::Stable).unwrap_or_default();
    let mut has_default = false;
    let mut kept = Vec::new();
    for mut route in routes {
        let name = route.get("name").and_then(Value::as_str).unwrap_or_default();
        let version = name.strip_prefix(release).and_then(|rest| rest.strip_prefix('/'));
        if version.is_some_and(|version| has_left(record, version)) {
            continue;
        }
        if name == release {
            has_default = true;
            let destinations = route.get_mut("route").and_then(Value::as_array_mut);
            for destination in destinations.into_iter().flatten() {
                if let Some(subset) = destination.pointer_mut("/destination/subset") {
                    *subset = version_subset(stable).into();
                }
            }
        }
        kept.push(route);
    }
    if has_default { Ok(kept) } else { Err("no default route of ours") }
}

fn narrowed(record: &Record, subsets: Vec<Value>) -> Vec<Value> {
    let gone = record.state.gone.iter().filter(|gone| has_left(record, &gone.name));
    let gone: Vec<String> = gone.map(|gone| version_subset(&gone.name)).collect();
    // Labels that differ in a dot alone share a subset's name.
    let live = record.state.versions.iter().map(|version| version.name.as_str());
    let needed: Vec<String> =
        live.chain(record.leaving.iter().map(String::as_str)).map(version_subset).collect();
    let has_gone = |subset: &Value| {
        let name = subset.get("name").and_then(Value::as_str).unwrap_or_default();
        gone.iter().any(|gone| gone == name) && !needed.iter().any(|needed| needed == name)
    };
    subsets.into_iter().filter(|subset| !has_gone(subset)).collect()
}

/// Whether no proxy sends requests to a version any more.
fn has_left(record: &Record, version: &str) -> bool {
    record.state.has_gone(version) && !record.leaving.iter().any(|leaving| leaving == version)
}
