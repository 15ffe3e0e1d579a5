//! The place of a release in its train, as its record keeps it: who drives another release of the train has no file of this one.

use crate::spec::{Milliseconds, OptionalKinds, Release};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The label of a record that names the train, so that the records of a train are found by one request.
pub const TRAIN_LABEL: &str = "canary-ctl.io/train";

/// A release of a train.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrainMember {
    /// The name of the train.
    pub name: String,
    /// Whether sidecars alone serve it: it follows the gateways' decisions, and has no users of its own.
    #[serde(default)]
    pub is_inner: bool,
    /// The other namespaces whose releases belong to the train, if it is behind gateways.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub namespaces: BTreeSet<String>,
    /// Whether its responses with a status of 400 to 499 count as failed.
    #[serde(default)]
    pub client_errors: bool,
    /// Its responses whose headers come later count as failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower_than: Option<Milliseconds>,
    /// Whether its responses that take the session from a request count as failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lost_sessions: bool,
}

impl TrainMember {
    /// The train of a release's file; `None` outside a train.
    pub fn of(release: &Release) -> Option<Self> {
        let policy = release.rollout.policy;
        release.train.clone().map(|name| Self {
            name,
            is_inner: release.gateways.is_empty() && !release.sidecars.is_empty(),
            namespaces: release.train_namespaces.iter().map(ToString::to_string).collect(),
            client_errors: policy.client_errors,
            slower_than: policy.slower_than,
            lost_sessions: policy.lost_sessions,
        })
    }

    /// The kinds of failure that are collected of it beside 5xx and unanswered requests.
    pub(crate) const fn optional_kinds(&self) -> OptionalKinds {
        OptionalKinds {
            client_errors: self.client_errors,
            slow_responses: self.slower_than.is_some(),
            lost_sessions: self.lost_sessions,
        }
    }

    /// The time of a slow response that its proxies know while it has no rollout of its own, in milliseconds: a rollout of the release behind
    /// the gateways writes nothing to them. 0 if none is.
    pub(crate) fn slower_than_milliseconds(member: Option<&Self>) -> u64 {
        member
            .filter(|member| member.is_inner)
            .and_then(|member| member.slower_than)
            .map_or(0, Milliseconds::get)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
