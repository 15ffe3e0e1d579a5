//! The plan of a module rollout: the module and nothing else.

use super::owned_config::rewritten;
use super::{Error, Plan};
use crate::delivery::{ModuleContents, ModuleRollout};
use crate::object::Reference;
use crate::record::Record;
use assignment::contract::ReleaseConfig;
use serde_json::Value;
use std::collections::BTreeMap;

/// Which module a write is for, and where the bytes of an embedded one are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleChoice<'c> {
    /// The new one.
    New(&'c ModuleContents),
    /// The one before it.
    Old(&'c ModuleContents),
}

/// The plan that changes the module and the generation, by which proxies report it, and nothing else.
///
/// # Errors
///
/// If an object does not exist, or its configuration lacks the release. If the module is an embedded one that is not in
/// `contents`.
pub fn plan_module_rollout(
    rollout: &ModuleRollout,
    release: &str,
    record: &Record,
    which: ModuleChoice<'_>,
    observed: &BTreeMap<Reference, Value>,
) -> Result<Plan, Error> {
    let entry = |entry: &mut ReleaseConfig| entry.generation = record.state.generation;
    let module = |reference: &Reference, body: Value| match which {
        ModuleChoice::New(contents) => match rollout.entry(reference) {
            Some(change) => change.to.put_into(&body, contents),
            None => Ok(body),
        },
        ModuleChoice::Old(contents) => rollout.with_old_module(reference, body, contents),
    };
    rewritten(release, record, observed, entry, module)
}
