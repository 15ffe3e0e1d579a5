//! What would be written: ordered changes, each with its reason.

use super::PlanNote;
use crate::object::{Field, Object, Owners, Reference, Stage, fields};
use crate::plan::take_ownership;
use crate::preflight::PreflightCheck;
use crate::routing;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Ordered changes: if they are executed in this order, every intermediate state is safe.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// The changes. None: everything is as it should be.
    pub changes: Vec<Change>,
    /// The decisions that were made for the user, what could not be read, and what would fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<PlanNote>,
}

/// One object that would be written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The purpose of the object.
    pub stage: Stage,
    /// Which object.
    pub object: Reference,
    /// The action for it.
    pub action: Action,
    /// Why.
    pub why: ChangeReason,
    /// The differences. Keys are left out.
    pub fields: Vec<Field>,
    /// The object that would be written, keys included; none for a deletion.
    #[serde(skip)]
    pub body: Value,
    /// The version of the object that this was worked out from; a write to a later one is refused.
    #[serde(skip)]
    pub seen: Option<String>,
    /// The patch that takes over the fields of another owner before they are written, if the object is taken over.
    #[serde(skip)]
    pub claim: Option<Value>,
}

/// The action for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// The object is created.
    Create,
    /// It changes.
    Update,
    /// The object is deleted.
    Delete,
    /// Our fields are removed; the object belongs to its owner again.
    Restore,
}

/// The reason for which an object would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeReason {
    /// It does not exist.
    Missing,
    /// It belongs to another owner, and our routes are inserted before the owner's.
    Edited,
    /// The release desires another content.
    Asked,
    /// Other field managers have changed our fields.
    Repair {
        /// Their field managers.
        by: Vec<String>,
    },
    /// Another field manager has created it with our name, or has marked it as its own since.
    Adopted {
        /// Their field managers.
        from: Vec<String>,
    },
    /// The release no longer needs it.
    Leaving,
    /// It belongs to another owner, and our routes are removed from it.
    Returned,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The plan without the failures of checks that are skipped.
    #[must_use]
    pub fn skipping(mut self, skipped: &[PreflightCheck]) -> Self {
        let is_skipped =
            |note: &PlanNote| matches!(note, PlanNote::CheckFails(failed) if skipped.contains(&failed.check));
        self.notes.retain(|note| !is_skipped(note));
        self
    }

    /// Whether something of this stage would be written.
    pub fn has(&self, stage: Stage) -> bool {
        self.changes.iter().any(|change| change.stage == stage)
    }

    /// Whether a route to a version would be written.
    pub fn has_ways(&self) -> bool {
        self.changes.iter().any(|change| change.stage.is_route())
    }

    /// Whether the filter is added to proxies that do not have it: until then clients can name a version themselves.
    pub fn brings_filter(&self) -> bool {
        let comes = |change: &Change| change.stage == Stage::Filter && change.action == Action::Create;
        self.changes.iter().any(comes)
    }

    /// Whether a Wasm filter, or the object that creates V8, would be added to proxies that may run already.
    pub fn brings_wasm(&self) -> bool {
        let comes = |change: &Change| match change.stage {
            Stage::Runtime => change.action != Action::Delete && !change.is_of_metadata(),
            Stage::Filter | Stage::Configuration => change.action == Action::Create,
            Stage::Subsets | Stage::Routes | Stage::Edits | Stage::ModuleBackup => false,
        };
        self.changes.iter().any(comes)
    }

    /// The part of these stages.
    #[must_use]
    pub fn of(mut self, stages: &[Stage]) -> Self {
        self.changes.retain(|change| stages.contains(&change.stage));
        self
    }
}

impl Change {
    /// From the observed object to the desired one; `None` if they are the same.
    pub(crate) fn between(desired: &Object, observed: Option<&Value>) -> Option<Self> {
        let change = |action, why, fields, seen| Self {
            stage: desired.stage,
            object: desired.reference.clone(),
            body: desired.body.clone(),
            action,
            why,
            fields,
            seen,
            claim: None,
        };
        let Some(observed) = observed else {
            return Some(change(Action::Create, ChangeReason::Missing, fields::of_new(&desired.body), None));
        };
        let fields = fields::differences(&desired.body, observed);
        if fields.is_empty() {
            return None;
        }
        let why = match desired.stage {
            Stage::Edits if !routing::was_edited(observed) => ChangeReason::Edited,
            Stage::Edits => repair(routing::lost_to(observed)),
            _ => repair(fields.iter().flat_map(|field| field.owners.clone()).collect()),
        };
        Some(change(Action::Update, why, fields, version(observed)))
    }

    /// The same for a whole object of ours: if another field manager claims it, it is taken over with all fields that
    /// the manager has set.
    pub(crate) fn to(desired: &Object, observed: Option<&Value>) -> Option<Self> {
        let theirs = observed.filter(|_| take_ownership::is_whole(desired));
        let Some(seen) = theirs else { return Self::between(desired, observed) };
        let change = Self::between(&take_ownership::as_adopted(desired, seen), observed);
        let from = take_ownership::claimants(seen);
        if from.is_empty() {
            return change;
        }
        let desired = take_ownership::adopted(desired, seen);
        let goes = fields::only_of(&from, &desired.body, seen);
        if change.is_none() && !take_ownership::needs(&desired, seen, &goes) {
            return None;
        }
        let claim = Some(take_ownership::claim(seen, &from));
        let mut change = Self::between(&desired, observed).unwrap_or_else(|| Self {
            stage: desired.stage,
            object: desired.reference.clone(),
            action: Action::Update,
            why: ChangeReason::Asked,
            fields: Vec::new(),
            body: desired.body.clone(),
            seen: version(seen),
            claim: None,
        });
        let is_new = |field: &Field| change.fields.iter().all(|known| known.path != field.path);
        let goes: Vec<Field> = goes.into_iter().filter(is_new).collect();
        change.fields.extend(goes);
        Some(Self { why: ChangeReason::Adopted { from }, claim, ..change })
    }

    /// Whether it changes labels and annotations alone.
    fn is_of_metadata(&self) -> bool {
        let is_of_metadata = |field: &Field| field.path.starts_with("metadata.");
        !self.fields.is_empty() && self.fields.iter().all(is_of_metadata)
    }

    /// The deletion of an object; `None` if it does not exist, or if it belongs to another owner now.
    pub(super) fn leaving(stage: Stage, object: &Reference, observed: Option<&Value>) -> Option<Self> {
        // A ConfigMap has no `spec`.
        let is_ours = |body: &&Value| {
            let ours = Owners::of(body).ours(body);
            ["spec", "binaryData"].iter().any(|field| ours.get(*field).is_some())
        };
        let observed = observed.filter(is_ours);
        Some(Self {
            stage,
            object: object.clone(),
            action: Action::Delete,
            why: ChangeReason::Leaving,
            fields: Vec::new(),
            body: Value::Null,
            seen: version(observed?),
            claim: None,
        })
    }
}

/// The repair of our fields, with the managers that changed them; without others the change is a desired one.
fn repair(mut by: Vec<String>) -> ChangeReason {
    by.sort();
    by.dedup();
    if by.is_empty() { ChangeReason::Asked } else { ChangeReason::Repair { by } }
}

fn version(observed: &Value) -> Option<String> {
    observed.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned)
}

impl fmt::Display for ChangeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it is not there"),
            Self::Edited => f.write_str("our routes come before theirs"),
            Self::Asked => f.write_str("the release asks for it"),
            Self::Repair { by } => write!(f, "changed by {}", by.join(", ")),
            Self::Adopted { from } => write!(f, "taken over from {}", from.join(", ")),
            Self::Returned => f.write_str("our routes go, and theirs stay"),
            Self::Leaving => f.write_str("the release needs it no longer"),
        }
    }
}
