//! The rollout of a new module. Until every proxy runs it, the old one can be restored.
//!
//! A proxy that cannot fetch a module keeps the configuration that it has, and gets neither a weight nor a rollback. So a new
//! module is written alone, and every other write before it runs everywhere restores the old one.

use super::{MissingModule, ModuleContents, ModuleSource};
use crate::object::{Object, Reference, Stage};
use crate::spec::ReleaseName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The objects whose module is changed, with the old and the new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModuleRollout(Vec<ModuleChange>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModuleChange {
    object: Reference,
    pub(crate) from: ModuleSource,
    pub(crate) to: ModuleSource,
}

impl ModuleRollout {
    /// The rollout that has to end before the rest of a release is written; `None` if every object names its module already.
    /// `earlier` is a rollout that was interrupted: its module is not known to run.
    pub fn of(
        desired: &[Object],
        observed: &BTreeMap<Reference, Value>,
        earlier: Option<&Self>,
    ) -> Option<Self> {
        let configs = desired.iter().filter(|object| object.stage == Stage::Configuration);
        let changes = configs.filter_map(|object| {
            let held = ModuleSource::of(observed.get(&object.reference)?)?;
            let before = earlier.and_then(|earlier| earlier.entry(&object.reference));
            let from = before.filter(|before| before.to == held).map_or(held, |before| before.from.clone());
            let to = ModuleSource::of(&object.body)?;
            (from != to).then(|| ModuleChange { object: object.reference.clone(), from, to })
        });
        let changes: Vec<_> = changes.collect();
        (!changes.is_empty()).then_some(Self(changes))
    }

    /// An object with the old module if it names the new one: another client may have written a third one since.
    pub(crate) fn with_old_module(
        &self,
        reference: &Reference,
        object: Value,
        contents: &ModuleContents,
    ) -> Result<Value, MissingModule> {
        let held = ModuleSource::of(&object);
        match self.entry(reference).filter(|change| held.as_ref() == Some(&change.to)) {
            Some(change) => change.from.put_into(&object, contents),
            None => Ok(object),
        }
    }

    /// The objects whose module is changed.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter().map(|change| &change.object)
    }

    /// The modules that the objects named before.
    pub(crate) fn old_modules(&self) -> impl Iterator<Item = &ModuleSource> {
        self.0.iter().map(|change| &change.from)
    }

    pub(crate) fn entry(&self, reference: &Reference) -> Option<&ModuleChange> {
        self.0.iter().find(|change| change.object == *reference)
    }
}

/// The URL or the digest of the new module.
impl fmt::Display for ModuleRollout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.first().map_or(Ok(()), |change| change.to.fmt(f))
    }
}

/// The ConfigMap of the embedded modules that a module rollout replaces.
pub fn module_backup(release: &ReleaseName) -> Reference {
    Reference::new("v1", "ConfigMap", release.namespace.as_str(), &format!("{}-canary-module", release.name))
}
