//! What a weight changed, wherever it was written.

use crate::Error;
use crate::report::Report;
use assignment::Weight;
use assignment::contract::{Role, Until};
use canary_release::format::seconds;
use canary_release::state::{ReleaseState, ScaledDown};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// The changes. Weights in basis points.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::command) struct Changed {
    release: String,
    canary: String,
    from: Weight,
    to: Weight,
    pub(in crate::command) generation: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<jiff::Timestamp>,
    pub(in crate::command) written: bool,
    /// Whether it had this weight and this end before.
    #[serde(skip)]
    is_unchanged: bool,
    /// The generation that every worker runs, where it was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_seconds: Option<f64>,
    /// The proxies that could not be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::command) not_observed: Vec<String>,
    /// Stable, where it has too few pods for the users who come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    scaled_down: Option<ScaledDown>,
}

impl Changed {
    /// From one state of a release to the next. Fails if the expiry is too late for a timestamp.
    pub(in crate::command) fn between(
        name: &str,
        before: &ReleaseState,
        after: &ReleaseState,
    ) -> Result<Self, Error> {
        let at = |until: Until| {
            let seconds = i64::try_from(until.at_seconds).unwrap_or(i64::MAX);
            jiff::Timestamp::from_second(seconds).map_err(|error| {
                Error::usage(format!("expected a nearer end: {error}"), "give a shorter `--expires-in`")
            })
        };
        Ok(Self {
            release: name.to_owned(),
            canary: after.version_of(Role::Canary).unwrap_or_default().to_owned(),
            from: before.weight,
            to: after.weight,
            generation: after.generation,
            until: after.until.map(at).transpose()?,
            written: false,
            is_unchanged: after.generation == before.generation,
            running: None,
            waited_seconds: None,
            not_observed: Vec::new(),
            scaled_down: None,
        })
    }

    /// With what is missing of stable's pods.
    pub(in crate::command) fn with_scaled_down(self, scaled_down: Option<ScaledDown>) -> Self {
        Self { scaled_down, ..self }
    }

    /// Notes when it was seen everywhere.
    pub(in crate::command) fn arrived(&mut self, generation: u64, waited: Duration) {
        self.running = Some(generation);
        self.waited_seconds = Some(waited.as_secs_f64());
    }
}

impl Report for Changed {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let would = if self.written { "" } else { "would be " };
        let Self { release, canary, from, to, generation, .. } = self;
        write!(out, "{release}: {canary} ")?;
        if self.is_unchanged {
            write!(out, "has {to} already (generation {generation}")?;
        } else {
            write!(out, "{would}{from} -> {to} (generation {generation}")?;
        }
        if let Some(waited) = self.waited_seconds {
            let where_seen = if self.not_observed.is_empty() { "" } else { " where it was observed" };
            write!(out, ", active{where_seen} after {}", seconds(Duration::from_secs_f64(waited)))?;
        }
        write!(out, ")")?;
        if let Some(until) = self.until {
            write!(out, ", until {until}")?;
        }
        writeln!(out)
    }
}
