//! A first release from what a team has already: a `Canary` of Flagger, a `Rollout` of Argo Rollouts. Pure.
//!
//! ```text
//! source      the objects of the sources, with their places           texts          -> objects
//! fields      every field of a kind, and what becomes of it           object         -> differences
//! flagger     Canary, MetricTemplate, AlertProvider                   objects        -> draft, steps
//! argo        Rollout, AnalysisTemplate                               objects        -> draft, steps
//! draft       the text of the release, which the reader accepts       fields         -> canary.yaml
//! ```
//!
//! # Source
//! Flagger 1.44.0, `pkg/apis/flagger/v1beta1` and `pkg/controller`; Argo Rollouts 1.10.2, `pkg/apis/rollouts/v1alpha1`.

mod argo;
mod common;
mod difference;
mod draft;
mod fields;
mod flagger;
mod metric;
mod query;
mod source;
mod steps;

pub use difference::{Difference, Fate, Importance, SourceOrigin};
pub use fields::{FieldRule, covers};
pub use steps::{MoveAction, MoveStep, ObjectName};

use common::Context;
use placed_yaml::SyntaxError;
use serde::Serialize;
use source::Sources;

/// A text with objects.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'t> {
    /// The name of the file, for messages.
    pub name: &'t str,
    /// YAML or JSON, of one or several documents; lists are read as their items.
    pub text: &'t str,
    /// True if its lines are those of a file that people have.
    pub has_lines: bool,
}

/// Values from outside the sources; they count more than the sources do.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The identifier of the release.
    pub uid: String,
    /// The name of the `Canary` or `Rollout`, if there are several.
    pub name: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Host names that users type.
    pub hosts: Vec<String>,
    /// The Gateway object that serves them, as `<namespace>/<name>`.
    pub gateway: Option<String>,
    /// The version that everyone is on.
    pub stable: Option<String>,
    /// The version under test.
    pub canary: Option<String>,
    /// The application's session cookie.
    pub session_cookie: Option<String>,
    /// The claim of a JWT that names the user.
    pub jwt_claim: Option<String>,
    /// True if browsers speak TLS.
    pub tls: Option<bool>,
}

/// A peer whose objects are imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Flagger.
    Flagger,
    /// Argo Rollouts.
    Argo,
}

/// The result of an import.
#[derive(Clone, Debug, Serialize)]
pub struct Import {
    /// The text of `canary.yaml`.
    pub release: String,
    /// Everything that differs, the most important first.
    pub differences: Vec<Difference>,
    /// The steps beside it, in this order.
    pub steps: Vec<MoveStep>,
}

/// The error of an import.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A source is no YAML.
    #[error("{file}:{}: {error}", error.place)]
    Syntax {
        file: String,
        /// The fault.
        error: SyntaxError,
    },
    /// There is nothing to import.
    #[error("expected an object of kind `{kind}`, found none")]
    None { kind: &'static str },
    /// It is not clear which object is meant.
    #[error("expected one object of kind `{kind}`, or the name of one, found {found}")]
    Several {
        kind: &'static str,
        /// Those that there are.
        found: String,
    },
    /// The reader of releases refuses what was made, and no part of it can be left out.
    #[error("no release can be made of it: {0}")]
    Draft(String),
}

impl Import {
    /// Makes a release of the objects of a peer.
    ///
    /// # Errors
    ///
    /// If a text is no YAML, or has not exactly one object to import. What cannot be carried is no error, but a difference.
    pub fn of(peer: Peer, texts: &[SourceText<'_>], options: &ImportOptions) -> Result<Self, Error> {
        let sources = Sources::read(texts)?;
        let (kind, read): (_, fn(&mut Context<'_>)) = match peer {
            Peer::Flagger => ("Canary", flagger::read),
            Peer::Argo => ("Rollout", argo::read),
        };
        let subject = sources.only(kind, options.name.as_deref(), options.namespace.as_deref())?;
        let mut context = Context::new(&sources, subject, options);
        read(&mut context);
        context.finish()
    }

    /// True if everything that guards users was carried.
    pub fn keeps_guards(&self) -> bool {
        !self.differences.iter().any(Difference::loses_guard)
    }
}

/// The tables of fields of each kind: what becomes of everything that an object may say.
pub fn field_tables() -> [(&'static str, &'static [FieldRule]); 6] {
    [
        ("Canary", flagger::CANARY),
        ("MetricTemplate", flagger::METRIC_TEMPLATE),
        ("AlertProvider", flagger::ALERT_PROVIDER),
        ("Rollout", argo::ROLLOUT),
        ("AnalysisTemplate", argo::ANALYSIS_TEMPLATE),
        ("ClusterAnalysisTemplate", argo::ANALYSIS_TEMPLATE),
    ]
}
