//! What a weight writes: the release's state in its configuration objects, and a module that not all proxies have yet.
//!
//! Computed from the objects and not from the release's file: an edit that was not applied yet is not written with a
//! weight.

use super::owned_config::rewritten;
use super::{Error, Plan, Reference};
use crate::delivery::ModuleContents;
use crate::record::Record;
use assignment::contract::ReleaseConfig;
use serde_json::{Map, Value, json};
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

/// The part of an observed object that we apply again: its name, and the fields that we own. The rest belongs to the
/// API server or to other field managers.
pub(crate) fn applicable(observed: &Value) -> Value {
    let mut body = crate::ownership::Owners::of(observed).ours(observed);
    let metadata = observed.get("metadata");
    let field = |name: &str| metadata.and_then(|metadata| metadata.get(name)).cloned().unwrap_or_default();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("apiVersion".to_owned(), observed.get("apiVersion").cloned().unwrap_or_default());
        fields.insert("kind".to_owned(), observed.get("kind").cloned().unwrap_or_default());
        let ours = fields.entry("metadata").or_insert_with(|| json!({}));
        if let Some(ours) = ours.as_object_mut() {
            ours.extend(Map::from_iter(["name", "namespace"].map(|name| (name.to_owned(), field(name)))));
        }
    }
    body
}
