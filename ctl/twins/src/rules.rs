//! What the operator has decided.

use crate::Check;
use std::collections::BTreeSet;

/// Which versions are deployed.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// One version: the first installation, an upgrade without a canary, and the end of a promotion.
    Alone { version: String },
    /// Two versions.
    Beside {
        /// The version that is deployed.
        stable: String,
        /// The version that the new render becomes.
        candidate: String,
    },
}

impl Phase {
    /// The version that the new render is.
    pub fn rendered_version(&self) -> &str {
        match self {
            Self::Alone { version } => version,
            Self::Beside { candidate, .. } => candidate,
        }
    }
}

/// The fate of the hooks of a chart, which Helm runs when the canary is installed, with the canary's image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookAnswer {
    /// It is not decided: a chart with hooks is refused.
    #[default]
    Unanswered,
    /// They run.
    Run,
    /// They are left out.
    Skip,
}

/// The operator's decisions about a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The Service whose users are moved.
    pub service: String,
    /// The namespace of the release.
    pub namespace: String,
    /// The pods' version label.
    pub version_label: String,
    /// Which versions are deployed.
    pub phase: Phase,
    /// The replicas of the version that is rendered, or the lowest number for a canary's autoscaler; the chart's if there is none.
    pub replicas: Option<u32>,
    /// The fate of hooks and of new Jobs.
    pub hooks: HookAnswer,
    /// Secrets and ConfigMaps, by the chart's names, that both versions share though they differ.
    pub shared: BTreeSet<String>,
    /// Secrets, by the chart's names, whose difference is meant, and not made by a random function of the chart.
    pub twinned: BTreeSet<String>,
    /// Checks that are skipped.
    pub skip: BTreeSet<Check>,
}
