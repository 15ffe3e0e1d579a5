//! Webhooks of a rollout, with Flagger's types, so that receivers and load testers that were written for it can be called.
//!
//! # Source
//! [Flagger: webhooks](https://docs.flagger.app/usage/webhooks).

use super::{Seconds, SecretSource, SecretUrl};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The webhooks of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookSpec {
    /// All of them.
    pub hooks: Vec<RolloutHook>,
    /// The endpoints, by name.
    pub endpoints: BTreeMap<String, HookEndpoint>,
}

/// A webhook as the record keeps it: what its responses decide. Neither its address nor what it is sent is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RolloutHook {
    /// Its name, once in a release, and the name of no receiver of alerts.
    pub name: String,
    /// When it is called, and what its response decides.
    #[serde(rename = "type")]
    pub kind: HookType,
    /// The least time between two calls, where it is called again and again.
    pub interval: Seconds,
    /// So many responses in a row are failures before the rollout has failed, where its failures count.
    pub failure_threshold: u32,
}

/// The endpoint of a webhook. A driver has it from its own file and never from a record: who may write records chooses neither whom a driver
/// calls nor the command that a load tester is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEndpoint {
    /// The source of its URL.
    pub url_from: SecretSource,
    /// The URL, if it stands in the file itself.
    pub url: Option<SecretUrl>,
    /// The source of the keys that sign its requests, if they are signed: never the file of the release.
    pub signature_key_from: Option<SecretSource>,
    /// The timeout of each attempt.
    pub timeout: Seconds,
    /// So often a call is repeated where no response comes, or one that says that a later one may succeed.
    pub retries: u32,
    /// The metadata of each call.
    pub metadata: BTreeMap<String, String>,
}

/// When a webhook is called, and what its response decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookType {
    /// Before the first weight: lets the rollout begin.
    ConfirmRollout,
    /// Before the first weight: a test that may fail.
    PreRollout,
    /// While a step lasts: a check that may fail, or a load test.
    Rollout,
    /// Before each weight: lets it be set.
    ConfirmTrafficIncrease,
    /// Before the promotion: lets it be made.
    ConfirmPromotion,
    /// After the end.
    PostRollout,
    /// While the rollout goes on: a success ends it.
    Rollback,
    /// After each transition.
    Event,
}

impl HookType {
    /// Whether it is notified of transitions, and decides nothing.
    pub const fn is_notification(self) -> bool {
        matches!(self, Self::PostRollout | Self::Event)
    }

    /// Whether its calls have an interval of their own. What confirms is asked with each observation.
    pub const fn has_interval(self) -> bool {
        matches!(self, Self::PreRollout | Self::Rollout | Self::Rollback)
    }

    /// Whether its failures end a rollout.
    pub const fn is_check(self) -> bool {
        matches!(self, Self::PreRollout | Self::Rollout)
    }

    /// Its name in files and messages: Flagger's.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConfirmRollout => "confirm-rollout",
            Self::PreRollout => "pre-rollout",
            Self::Rollout => "rollout",
            Self::ConfirmTrafficIncrease => "confirm-traffic-increase",
            Self::ConfirmPromotion => "confirm-promotion",
            Self::PostRollout => "post-rollout",
            Self::Rollback => "rollback",
            Self::Event => "event",
        }
    }
}

impl RolloutHook {
    /// Time between two calls where the file does not say it.
    pub(super) const INTERVAL: Seconds = Seconds::MINUTE;
    /// Failures in a row where the file does not say it.
    pub(super) const FAILURE_THRESHOLD: u32 = 3;
}

impl HookEndpoint {
    /// The default timeout of a call, as Flagger has it.
    pub(super) const TIMEOUT: Seconds = Seconds::TEN_SECONDS;
}

impl fmt::Display for HookType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
