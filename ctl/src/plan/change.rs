//! What would be written: ordered changes, each with its reason.

use super::{Field, Object, Owners, Reference, fields};
use crate::manifest::Stage;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Ordered changes: carried out in this order, every state between is safe.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// The changes. None: everything is as it should be.
    pub changes: Vec<Change>,
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
}

/// Why an object would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// It is not there.
    Missing,
    /// The release asks for something else.
    Asked,
    /// Others have changed what is ours.
    Repair {
        /// Their field managers.
        by: Vec<String>,
    },
    /// The release needs it no longer.
    Leaving,
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

    /// Whether the filter comes to proxies that do not have it: until it is there, nothing keeps clients from naming a
    /// version themselves.
    pub fn brings_filter(&self) -> bool {
        let comes = |change: &Change| change.stage == Stage::Filter && change.action == Action::Create;
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
        };
        let Some(observed) = observed else {
            return Some(change(Action::Create, Why::Missing, fields::of_new(&desired.body), None));
        };
        let fields = fields::differences(&desired.body, observed);
        if fields.is_empty() {
            return None;
        }
        let mut by: Vec<String> = fields.iter().flat_map(|field| field.owners.clone()).collect();
        by.sort();
        by.dedup();
        let why = if by.is_empty() { Why::Asked } else { Why::Repair { by } };
        Some(change(Action::Update, why, fields, version(observed)))
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
        })
    }
}

fn version(observed: &Value) -> Option<String> {
    observed.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned)
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it is not there"),
            Self::Asked => f.write_str("the release asks for it"),
            Self::Repair { by } => write!(f, "changed by {}", by.join(", ")),
            Self::Leaving => f.write_str("the release needs it no longer"),
        }
    }
}
