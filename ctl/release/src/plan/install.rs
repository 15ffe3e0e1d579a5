//! From the observed objects to the desired ones: make before break.
//!
//! Objects are written from the pods to the users: subset, route, configuration. No route names a missing subset, and
//! no configuration a missing route. A new filter is written first, with a configuration at weight 0: without the
//! filter, a client can name the version of a route itself. Objects are deleted when all new ones exist.

use super::{Change, Error, Plan};
use crate::object::{Object, Reference, Stage};
use crate::plan::removal;
use crate::record::OwnedObject;
use crate::routing::RouteTargets;
use serde_json::Value;
use std::collections::BTreeMap;

/// The plan from observed objects to desired ones. `kept` are the objects that we have written before: those that are
/// no longer desired are deleted. Objects that are in neither list are ignored.
///
/// # Errors
///
/// If an object that is to be deleted has a configuration that is not ours.
pub fn install(
    targets: &RouteTargets,
    desired: &[Object],
    observed: &BTreeMap<Reference, Value>,
    kept: &[OwnedObject],
) -> Result<Plan, Error> {
    let changes = desired.iter().filter_map(|object| Change::to(object, observed.get(&object.reference)));
    let mut plan = Plan { changes: changes.collect(), ..Plan::default() };
    let filter_first = plan.brings_filter();
    let is_route = |stage: Stage| stage == Stage::Subsets || stage.is_route();
    plan.changes.sort_by_key(|change| (filter_first && is_route(change.stage), change.stage));
    let is_desired = |reference: &Reference| desired.iter().any(|object| object.reference == *reference);
    let goes: Vec<OwnedObject> =
        kept.iter().filter(|(_, reference)| !is_desired(reference)).cloned().collect();
    plan.changes.extend(removal(targets, observed, &goes)?.changes);
    Ok(plan)
}

/// The plan that takes away what only served versions that have left: routes first, then their subsets.
pub fn prune(desired: &[Object], observed: &BTreeMap<Reference, Value>) -> Plan {
    let serves = |object: &&Object| object.stage == Stage::Subsets || object.stage.is_route();
    let mut changes: Vec<Change> = desired
        .iter()
        .filter(serves)
        .filter_map(|object| Change::to(object, observed.get(&object.reference)))
        .collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.stage));
    Plan { changes, ..Plan::default() }
}
