//! From what is there to what a release needs: make before break.
//!
//! What comes goes from the pods to the users: subset, route, configuration, filter. What goes takes the same way back,
//! and only when everything that comes is there; no route names a subset that is not there, no filter a route.

use super::{Change, Error, Kept, Object, Plan, Reference, removal};
use crate::manifest::Stage;
use serde_json::Value;
use std::collections::BTreeMap;

/// The plan from observed objects to desired ones. `kept` are the objects that we have written before: those that are
/// not desired any more go. Objects that nobody ever named are none of our business.
///
/// Fails on an object that goes and holds a configuration that is not ours.
pub fn install(
    release: &str,
    desired: &[Object],
    observed: &BTreeMap<Reference, Value>,
    kept: &[Kept],
) -> Result<Plan, Error> {
    let mut changes: Vec<Change> = desired
        .iter()
        .filter_map(|object| Change::between(object, observed.get(&object.reference)))
        .collect();
    changes.sort_by_key(|change| change.stage);
    let is_desired = |reference: &Reference| desired.iter().any(|object| object.reference == *reference);
    let goes: Vec<Kept> = kept.iter().filter(|(_, reference)| !is_desired(reference)).cloned().collect();
    changes.extend(removal(release, observed, &goes)?.changes);
    Ok(Plan { changes })
}

/// The plan that takes away what only served versions that have left: routes first, then their subsets.
pub fn narrow(desired: &[Object], observed: &BTreeMap<Reference, Value>) -> Plan {
    let serves = |object: &&Object| matches!(object.stage, Stage::Subsets | Stage::Routes);
    let mut changes: Vec<Change> = desired
        .iter()
        .filter(serves)
        .filter_map(|object| Change::between(object, observed.get(&object.reference)))
        .collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.stage));
    Plan { changes }
}
