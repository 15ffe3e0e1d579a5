//! What would be written: ordered changes, each with its reason.

use super::{Field, Object, Owners, Reference, adopt, edit, fields};
use crate::manifest::Stage;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Ordered changes: carried out in this order, every state between is safe.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// The changes. None: everything is as it should be.
    pub changes: Vec<Change>,
    /// What was decided for whom, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One object that would be written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What the object is for.
    pub stage: Stage,
    /// Which object.
    pub object: Reference,
    /// What would be done to it.
    pub action: Action,
    /// Why.
    pub why: Why,
    /// What differs. Keys are left out.
    pub fields: Vec<Field>,
    /// What would be written, keys included; nothing where it goes.
    #[serde(skip)]
    pub body: Value,
    /// The version of the object that this was worked out from; a write to a later one is refused.
    #[serde(skip)]
    pub seen: Option<String>,
    /// What makes the fields of an owner ours before they are written, where it is taken over.
    #[serde(skip)]
    pub claim: Option<Value>,
}

/// What would be done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// It comes.
    Create,
    /// It changes.
    Update,
    /// It goes.
    Delete,
    /// Our part of it goes; the rest is its owner's again.
    HandBack,
}

/// Why an object would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// It is not there.
    Missing,
    /// It is somebody else's, and our routes come before theirs.
    Edited,
    /// The release asks for something else.
    Asked,
    /// Others have changed what is ours.
    Repair {
        /// Their field managers.
        by: Vec<String>,
    },
    /// Somebody else has made it under our name, or has marked it as theirs since.
    Adopted {
        /// Their field managers.
        from: Vec<String>,
    },
    /// The release needs it no longer.
    Leaving,
    /// It is somebody else's, and our routes leave it.
    Returned,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether something of this stage would be written.
    pub fn has(&self, stage: Stage) -> bool {
        self.changes.iter().any(|change| change.stage == stage)
    }

    /// Whether a way to a version would be written.
    pub fn has_ways(&self) -> bool {
        self.changes.iter().any(|change| change.stage.is_way())
    }

    /// Whether the filter comes to proxies that do not have it: until it is there, nothing keeps clients from naming a
    /// version themselves.
    pub fn brings_filter(&self) -> bool {
        let comes = |change: &Change| change.stage == Stage::Filter && change.action == Action::Create;
        self.changes.iter().any(comes)
    }

    /// Whether a Wasm filter, or what makes V8, would come to proxies that may run already.
    pub fn brings_wasm(&self) -> bool {
        let comes = |change: &Change| match change.stage {
            Stage::Runtime => change.action != Action::Delete,
            Stage::Filter | Stage::Configuration => change.action == Action::Create,
            Stage::Subsets | Stage::Routes | Stage::Edits => false,
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
    /// From what is there to what should be; `None` where they are the same.
    pub(super) fn between(desired: &Object, observed: Option<&Value>) -> Option<Self> {
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
            return Some(change(Action::Create, Why::Missing, fields::of_new(&desired.body), None));
        };
        let fields = fields::differences(&desired.body, observed);
        if fields.is_empty() {
            return None;
        }
        let why = match desired.stage {
            Stage::Edits if !edit::was_edited(observed) => Why::Edited,
            Stage::Edits => repair(edit::lost_to(observed)),
            _ => repair(fields.iter().flat_map(|field| field.owners.clone()).collect()),
        };
        Some(change(Action::Update, why, fields, version(observed)))
    }

    /// The same for the whole of an object of ours: where somebody else holds it to be theirs, it is taken over with all
    /// that they have set.
    pub(super) fn to(desired: &Object, observed: Option<&Value>) -> Option<Self> {
        let theirs = observed.filter(|_| adopt::is_whole(desired));
        let Some(seen) = theirs else { return Self::between(desired, observed) };
        let change = Self::between(&adopt::as_adopted(desired, seen), observed);
        let from = adopt::claimants(seen);
        if from.is_empty() {
            return change;
        }
        let desired = adopt::adopted(desired, seen);
        let goes = fields::only_of(&from, &desired.body, seen);
        if change.is_none() && !adopt::needs(&desired, seen, &goes) {
            return None;
        }
        let claim = Some(adopt::claim(seen, &from));
        let mut change = Self::between(&desired, observed).unwrap_or_else(|| Self {
            stage: desired.stage,
            object: desired.reference.clone(),
            action: Action::Update,
            why: Why::Asked,
            fields: Vec::new(),
            body: desired.body.clone(),
            seen: version(seen),
            claim: None,
        });
        let is_new = |field: &Field| change.fields.iter().all(|known| known.path != field.path);
        let goes: Vec<Field> = goes.into_iter().filter(is_new).collect();
        change.fields.extend(goes);
        Some(Self { why: Why::Adopted { from }, claim, ..change })
    }

    /// An object that goes; `None` where it has gone, or has become somebody else's.
    pub(super) fn leaving(stage: Stage, object: &Reference, observed: Option<&Value>) -> Option<Self> {
        let is_ours = |body: &&Value| Owners::of(body).ours(body).get("spec").is_some();
        let observed = observed.filter(is_ours);
        Some(Self {
            stage,
            object: object.clone(),
            action: Action::Delete,
            why: Why::Leaving,
            fields: Vec::new(),
            body: Value::Null,
            seen: version(observed?),
            claim: None,
        })
    }
}

/// By whom what is ours was changed; nobody has where only we have.
fn repair(mut by: Vec<String>) -> Why {
    by.sort();
    by.dedup();
    if by.is_empty() { Why::Asked } else { Why::Repair { by } }
}

fn version(observed: &Value) -> Option<String> {
    observed.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned)
}

impl fmt::Display for Why {
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
