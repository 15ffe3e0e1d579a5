//! What the proxies of a release have counted by user group, at one moment.

use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::evidence::ProxyCounters;
use canary_release::record::Record;
use canary_release::spec::ReleaseName;

/// A part of the names of these counters in the proxy: fewer lines travel.
const COUNTERS: &str = "canary_group_";

/// The counters of a rollout, and how many proxies there are to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCounters {
    /// Those of the proxies that answered.
    pub counters: ProxyCounters,
    /// The ready proxies of the release.
    pub proxies: usize,
}

impl Cluster {
    /// What the ready proxies have counted of the version that a rollout is about, and of stable, since they started. A proxy
    /// that does not answer is none of them; one that runs an older module has counted nothing.
    ///
    /// # Errors
    ///
    /// Where pods may not be listed or read.
    pub async fn group_counters(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<GroupCounters, Error> {
        let reported = self.metrics(record, COUNTERS).await?;
        let canary = record.rollout.as_ref().map_or("", |rollout| rollout.canary.as_str());
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let (name, proxies) = (release.to_string(), reported.len());
        let mut counters = ProxyCounters::default();
        for (pod, metrics) in reported {
            if let Ok(metrics) = metrics {
                let of = |version| metrics.group_counters(&name, version);
                counters.insert(pod, of(canary), of(stable));
            }
        }
        Ok(GroupCounters { counters, proxies })
    }
}
