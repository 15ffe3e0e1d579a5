//! A release's standing in the objects that carry it, and nothing else but a module that has not arrived: what a weight writes.
//!
//! Worked out from the objects and not from the release's file: a file that was edited and not applied yet does not
//! come along with a weight.

use super::carried::rewritten;
use super::{Error, Plan, Record, Reference};
use crate::config::Standing;
use assignment::contract::ReleaseConfig;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The plan that gives a release another standing, in every configuration that we have written for it.
///
/// Fails where one is not there or does not know the release: `apply` did not come to its end.
pub fn plan_config_update(
    release: &str,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
) -> Result<Plan, Error> {
    let entry = |entry: &mut ReleaseConfig| {
        let Standing { uid, generation, weight, until, versions, gone, .. } = record.standing.clone();
        *entry = ReleaseConfig { uid, generation, weight, until, versions, gone, ..entry.clone() };
    };
    let module = |reference: &Reference, body: Value| match &record.trial {
        // A proxy that cannot fetch the new module would not get this either.
        Some(trial) => trial.taken_back(reference, body),
        None => body,
    };
    rewritten(release, record, observed, entry, module)
}

/// The part of an observed object that we apply again: its name, and the fields that are ours. The rest belongs to the
/// API server or to others.
pub(super) fn applicable(observed: &Value) -> Value {
    let mut body = super::Owners::of(observed).ours(observed);
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
