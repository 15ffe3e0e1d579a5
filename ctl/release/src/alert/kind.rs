//! The transitions of a rollout that people are told of.

use crate::spec::AlertSeverity;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The result of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RolloutResult {
    /// The canary is stable.
    Promoted,
    /// The canary is gone.
    RolledBack,
    /// The canary receives no new users.
    Stopped,
    /// All steps are done, and the weight stays.
    Completed,
    /// The rollout only observed.
    Observed,
}

impl fmt::Display for RolloutResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Promoted => "promoted",
            Self::RolledBack => "rolled back",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
            Self::Observed => "observed",
        })
    }
}

/// A transition of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AlertKind {
    /// It was started.
    Started,
    /// The weight of a step was set.
    Step,
    /// A step needs an approval.
    Gate,
    /// Somebody has paused it, or has set a weight.
    Suspended,
    /// Somebody lets it go on.
    Resumed,
    /// It was held, or has seen too little, for long.
    Stalled,
    /// The canary is worse, or has ended because no driver was there.
    Failed,
    /// The evidence has held it for longer than it allows.
    HeldTooLong,
    /// The deadline has passed.
    Deadline,
    /// Somebody has ended it.
    Aborted,
    /// The canary is stable.
    Promoted,
    /// The canary is gone.
    RolledBack,
    /// The canary receives no new users.
    Stopped,
    /// All steps are done, and the weight stays.
    Completed,
    /// It only observed, and has ended.
    Observed,
    /// None: somebody tries the receivers.
    Test,
}

impl AlertKind {
    /// The severity.
    pub const fn severity(self) -> AlertSeverity {
        match self {
            Self::Started
            | Self::Step
            | Self::Resumed
            | Self::Promoted
            | Self::Completed
            | Self::Observed
            | Self::Test => AlertSeverity::Info,
            Self::Gate | Self::Suspended | Self::Stalled | Self::Aborted => AlertSeverity::Warning,
            Self::Failed | Self::HeldTooLong | Self::Deadline | Self::RolledBack | Self::Stopped => {
                AlertSeverity::Error
            }
        }
    }

    /// Whether the rollout has ended with it.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Promoted | Self::RolledBack | Self::Stopped | Self::Completed | Self::Observed)
    }

    /// The name that programs read: `rolledBack`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Step => "step",
            Self::Gate => "gate",
            Self::Suspended => "suspended",
            Self::Resumed => "resumed",
            Self::Stalled => "stalled",
            Self::Failed => "failed",
            Self::HeldTooLong => "heldTooLong",
            Self::Deadline => "deadline",
            Self::Aborted => "aborted",
            Self::Promoted => "promoted",
            Self::RolledBack => "rolledBack",
            Self::Stopped => "stopped",
            Self::Completed => "completed",
            Self::Observed => "observed",
            Self::Test => "test",
        }
    }
}

impl From<RolloutResult> for AlertKind {
    fn from(result: RolloutResult) -> Self {
        match result {
            RolloutResult::Promoted => Self::Promoted,
            RolloutResult::RolledBack => Self::RolledBack,
            RolloutResult::Stopped => Self::Stopped,
            RolloutResult::Completed => Self::Completed,
            RolloutResult::Observed => Self::Observed,
        }
    }
}
