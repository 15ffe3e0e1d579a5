//! Evidence about the other releases of a train: users of the canary are called with their canaries, so a failure there is one of the canary
//! that the rollout is about, also where the front end hides it.

use super::{Evidence, ProxyCoverage};
use crate::spec::ReleaseName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The counts of another release of the train, as the record keeps them. Their size does not grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InnerEvidence {
    /// Its canary.
    pub canary: String,
    /// Its stable version.
    pub stable: String,
    /// The counts of both versions.
    pub evidence: Evidence,
}

/// The observation of the other releases of a train at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrainReport {
    /// Each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<InnerReport>,
    /// The reason for which there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

/// The observation of one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InnerReport {
    /// The release.
    pub release: ReleaseName,
    /// The proxies that call it, and those whose counters were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<ProxyCoverage>,
    /// The reason for which it was not observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

impl TrainReport {
    /// Whether there is nothing to say.
    pub const fn is_empty(&self) -> bool {
        self.releases.is_empty() && self.unread.is_none()
    }
}

impl fmt::Display for InnerReport {
    /// `shop/api: counters of 2 of 2 proxies`, or `shop/api: not observed: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { release, proxies, unread } = self;
        match (proxies, unread) {
            (_, Some(unread)) => write!(f, "{release}: not observed: {unread}"),
            (Some(ProxyCoverage { observed, of }), None) => {
                write!(f, "{release}: counters of {observed} of {of} proxies")
            }
            (None, None) => write!(f, "{release}: not observed"),
        }
    }
}

#[cfg(test)]
#[path = "train_tests.rs"]
mod tests;
