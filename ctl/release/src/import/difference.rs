//! Differences between a source and the release that was made of it, by importance.

use placed_yaml::Place;
use serde::Serialize;
use std::fmt;

/// The cost of a difference. Guards of users come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    /// It protects users from a bad canary, or chooses who meets it.
    Guard,
    /// It changes the course of a release, or what users notice of it.
    Behaviour,
    /// Neither.
    Cosmetic,
}

pub(super) const GUARD: Importance = Importance::Guard;
pub(super) const BEHAVIOUR: Importance = Importance::Behaviour;
pub(super) const COSMETIC: Importance = Importance::Cosmetic;

/// The fate of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// The release has nothing of it.
    Lost,
    /// The importer does not know the field: it may be anything.
    Unknown,
    /// Nothing says it, and a value to replace is in its place.
    Placeholder,
    /// The release has it, with another meaning or in another place.
    Differs,
}

/// A place of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourceOrigin {
    /// The file.
    pub file: String,
    /// The line, from 1; `None` for an object of a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The object: `Canary shop/web`.
    pub object: String,
    /// The field: `spec.analysis.webhooks[1].url`.
    pub field: String,
}

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Difference {
    /// Its cost.
    pub importance: Importance,
    /// The fate of the field.
    pub fate: Fate,
    /// Its place in the source.
    #[serde(flatten)]
    pub origin: SourceOrigin,
    /// The difference, as a sentence.
    pub difference: String,
    /// A remedy; `nothing` if none is needed.
    pub action: String,
}

impl Difference {
    /// True if users lose a guard by it, or may.
    pub fn loses_guard(&self) -> bool {
        self.importance == Importance::Guard && matches!(self.fate, Fate::Lost | Fate::Unknown)
    }
}

impl Importance {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::Behaviour => "behaviour",
            Self::Cosmetic => "cosmetic",
        }
    }
}

impl Fate {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Unknown => "unknown",
            Self::Placeholder => "placeholder",
            Self::Differs => "differs",
        }
    }
}

impl fmt::Display for SourceOrigin {
    /// `file:line: field`, so that editors can jump there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.field),
            None => write!(f, "{}: {}", self.object, self.field),
        }
    }
}

/// The differences of an import, while it goes on.
#[derive(Debug, Default)]
pub(super) struct Differences(Vec<Difference>);

impl Differences {
    pub(super) fn note(
        &mut self,
        origin: &SourceOrigin,
        (importance, fate): (Importance, Fate),
        difference: impl Into<String>,
        action: impl Into<String>,
    ) {
        let (difference, action) = (difference.into(), action.into());
        self.0.push(Difference { importance, fate, origin: origin.clone(), difference, action });
    }

    pub(super) fn lost_guard(
        &mut self,
        origin: &SourceOrigin,
        difference: impl Into<String>,
        action: impl Into<String>,
    ) {
        self.note(origin, (Importance::Guard, Fate::Lost), difference, action);
    }

    pub(super) fn differs(
        &mut self,
        origin: &SourceOrigin,
        importance: Importance,
        difference: impl Into<String>,
        action: impl Into<String>,
    ) {
        self.note(origin, (importance, Fate::Differs), difference, action);
    }

    /// All of them, the most important first, and each once.
    pub(super) fn finish(mut self) -> Vec<Difference> {
        self.0.sort();
        self.0.dedup();
        self.0
    }
}

impl SourceOrigin {
    /// The same object, another field.
    pub(super) fn at(&self, field: impl Into<String>, place: Place) -> Self {
        let line = self.line.map(|_| place.line);
        Self { field: field.into(), line, ..self.clone() }
    }
}
