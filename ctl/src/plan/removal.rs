//! Taking a release away: the way it came, backwards.
//!
//! First no route leads to its versions, then no filter knows it, then no subset is left. The filter does not go before the
//! routes: without it a client could name their versions itself. An object that serves other releases too loses ours alone.

use super::{Change, Error, Object, OwnedObject, Plan, Reference, Ways, edit};
use crate::manifest::{Stage, held_configuration, with_configuration};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The plan that takes a release away. `kept` are the objects that we have written for it; what is not there has gone.
///
/// Fails on a configuration that is not ours.
pub fn removal(
    ways: &Ways,
    observed: &BTreeMap<Reference, Value>,
    kept: &[OwnedObject],
) -> Result<Plan, Error> {
    let mut changes = Vec::new();
    let mut shared = BTreeSet::new();
    for (stage, reference) in kept.iter().filter(|(stage, _)| *stage == Stage::Configuration) {
        let Some(body) = observed.get(reference) else { continue };
        let Some(mut config) = held_configuration(body)? else { continue };
        config.releases.remove(&ways.release);
        if config.releases.is_empty() {
            continue;
        }
        shared.extend(beside(reference));
        shared.insert((reference.namespace.clone(), reference.name.clone()));
        let body = super::carried::carrying(&with_configuration(body, &config)?, &ways.release);
        let desired = Object { reference: reference.clone(), stage: *stage, body };
        changes.extend(Change::between(&desired, observed.get(reference)));
    }
    let mut goes: Vec<Change> = kept
        .iter()
        .filter(|(_, reference)| !shared.contains(&(reference.namespace.clone(), reference.name.clone())))
        .filter_map(|(stage, reference)| match stage {
            Stage::Edits => edit::undone(reference, observed.get(reference)?, ways),
            _ => Change::leaving(*stage, reference, observed.get(reference)),
        })
        .collect();
    goes.sort_by_key(|change| (!change.stage.is_way(), std::cmp::Reverse(change.stage)));
    changes.extend(goes);
    Ok(Plan { changes, ..Plan::default() })
}

/// The objects that the proxies of this configuration need whatever release is there: the filter's place and V8.
fn beside(configuration: &Reference) -> [(String, String); 2] {
    let pods = configuration.name.strip_suffix("-config").unwrap_or(&configuration.name);
    ["filter", "runtime"].map(|what| (configuration.namespace.clone(), format!("{pods}-{what}")))
}
