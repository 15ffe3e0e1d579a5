//! From what is there to what a release needs: make before break.
//!
//! What comes goes from the pods to the users: subset, route, configuration; no route names a subset that is not there, no
//! configuration a route. Where the filter itself comes, it comes first, with a configuration that gives the canary nobody:
//! as long as it is missing a client can name the version of a route itself. What goes does so when all that comes is there.

use super::{Change, Error, Object, OwnedObject, Plan, Reference, Ways, removal};
use crate::manifest::Stage;
use serde_json::Value;
use std::collections::BTreeMap;

/// The plan from observed objects to desired ones. `kept` are the objects that we have written before: those that are
/// not desired any more go. Objects that nobody ever named are none of our business.
///
/// Fails on an object that goes and holds a configuration that is not ours.
pub fn install(
    ways: &Ways,
    desired: &[Object],
    observed: &BTreeMap<Reference, Value>,
    kept: &[OwnedObject],
) -> Result<Plan, Error> {
    let changes = desired.iter().filter_map(|object| Change::to(object, observed.get(&object.reference)));
    let mut plan = Plan { changes: changes.collect(), ..Plan::default() };
    let filter_first = plan.brings_filter();
    let is_way = |stage: Stage| stage == Stage::Subsets || stage.is_way();
    plan.changes.sort_by_key(|change| (filter_first && is_way(change.stage), change.stage));
    let is_desired = |reference: &Reference| desired.iter().any(|object| object.reference == *reference);
    let goes: Vec<OwnedObject> =
        kept.iter().filter(|(_, reference)| !is_desired(reference)).cloned().collect();
    plan.changes.extend(removal(ways, observed, &goes)?.changes);
    Ok(plan)
}

/// The plan that takes away what only served versions that have left: routes first, then their subsets.
pub fn prune(desired: &[Object], observed: &BTreeMap<Reference, Value>) -> Plan {
    let serves = |object: &&Object| object.stage == Stage::Subsets || object.stage.is_way();
    let mut changes: Vec<Change> = desired
        .iter()
        .filter(serves)
        .filter_map(|object| Change::to(object, observed.get(&object.reference)))
        .collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.stage));
    Plan { changes, ..Plan::default() }
}
