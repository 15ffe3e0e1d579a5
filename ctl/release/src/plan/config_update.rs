//! What a weight writes: the release's state in its configuration objects, and a module that not all proxies have yet.
//!
//! Computed from the objects and not from the release's file: an edit that was not applied yet is not written with a
//! weight.

use super::owned_config::rewritten;
use super::{Error, Plan};
use crate::delivery::ModuleContents;
use crate::object::Reference;
use crate::record::Record;
use assignment::contract::ReleaseConfig;
use serde_json::Value;
use std::collections::BTreeMap;

/// The plan that gives a release another state, in every configuration that we have written for it.
///
/// # Errors
///
/// If one does not exist or does not contain the release: `apply` was not completed. If an old embedded module is not in the
/// observed objects.
pub fn plan_config_update(
    release: &str,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
) -> Result<Plan, Error> {
    let entry = |entry: &mut ReleaseConfig| {
        let state = record.state.clone();
        *entry = ReleaseConfig {
            uid: state.uid,
            generation: state.generation,
            weight: state.weight,
            until: state.until,
            versions: state.versions,
            gone: state.gone,
            rollout_since_seconds: state.rollout_since_seconds,
            slower_than_milliseconds: state.slower_than_milliseconds,
            ..entry.clone()
        };
    };
    // Of a module rollout, the ConfigMap with the old modules is one of the observed objects.
    let contents = record.module_rollout.as_ref().map(|_| ModuleContents::of(observed.values()));
    let module = |reference: &Reference, body: Value| match (&record.module_rollout, &contents) {
        // A proxy that cannot fetch the new module would not get this either.
        (Some(rollout), Some(contents)) => rollout.with_old_module(reference, body, contents),
        _ => Ok(body),
    };
    rewritten(release, record, observed, entry, module)
}
