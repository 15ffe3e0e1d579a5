//! Uninstalls a release: the reverse order of its installation.
//!
//! First its routes are removed, then its filter configuration, then its subsets. The filter is not removed before the
//! routes: without it a client could name their versions itself. From an object that serves other releases too, only
//! this release is removed.

use super::{Change, Error, Plan, undone};
use crate::delivery::{beside_config, deployed_config, with_deployed_config};
use crate::manifest::without_release;
use crate::object::{NamespacedName, Object, Reference, Stage, applicable};
use crate::record::OwnedObject;
use crate::routing::RouteTargets;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The plan that removes a release. `kept` are the objects that we have written for it; missing ones are skipped.
///
/// # Errors
///
/// If a configuration is not ours.
pub fn removal(
    targets: &RouteTargets,
    observed: &BTreeMap<Reference, Value>,
    kept: &[OwnedObject],
) -> Result<Plan, Error> {
    let mut changes = Vec::new();
    let mut shared = BTreeSet::new();
    for (stage, reference) in kept.iter().filter(|(stage, _)| *stage == Stage::Configuration) {
        let Some(body) = observed.get(reference) else { continue };
        let Some(mut config) = deployed_config(body)? else { continue };
        config.releases.remove(&targets.release);
        if config.releases.is_empty() {
            continue;
        }
        shared.extend(beside_config(reference).map(|(_, object)| object.place()));
        shared.insert((reference.namespace.clone(), reference.name.clone()));
        let body = with_deployed_config(body, &config)?;
        let body = without_release(&body, &targets.release).unwrap_or(body);
        let body = super::owned_config::carrying(&body, &targets.release);
        let desired = Object { reference: reference.clone(), stage: *stage, body };
        changes.extend(Change::between(&desired, observed.get(reference)));
    }
    changes.extend(kept.iter().filter_map(|owned| without_metadata(owned, &shared, observed, targets)));
    let mut goes: Vec<Change> = kept
        .iter()
        .filter(|(_, reference)| !shared.contains(&(reference.namespace.clone(), reference.name.clone())))
        .filter_map(|(stage, reference)| match stage {
            Stage::Edits => undone(reference, observed.get(reference)?, targets),
            _ => Change::leaving(*stage, reference, observed.get(reference)),
        })
        .collect();
    goes.sort_by_key(|change| (!change.stage.is_route(), std::cmp::Reverse(change.stage)));
    changes.extend(goes);
    Ok(Plan { changes, ..Plan::default() })
}

/// A shared object of a proxy that stays, without the labels and annotations of the release; its configuration is written anyway.
fn without_metadata(
    (stage, reference): &OwnedObject,
    shared: &BTreeSet<NamespacedName>,
    observed: &BTreeMap<Reference, Value>,
    targets: &RouteTargets,
) -> Option<Change> {
    if !matches!(stage, Stage::Runtime | Stage::Filter) || !shared.contains(&reference.place()) {
        return None;
    }
    let seen = observed.get(reference)?;
    let body = applicable(&without_release(seen, &targets.release)?);
    Change::between(&Object { reference: reference.clone(), stage: *stage, body }, Some(seen))
}
