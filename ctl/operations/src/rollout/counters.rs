//! What the proxies of a release have counted by user group, at one moment.

use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::evidence::ProxyCounters;
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use jiff::Timestamp;

/// A part of the names of these metrics in the proxy: fewer lines travel.
const COUNTERS: &str = "canary_group_|canary_fuse";

/// The counters of a rollout, and how many proxies there are to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCounters {
    /// Those of the proxies that answered.
    pub counters: ProxyCounters,
    /// The ready proxies of the release.
    pub proxies: usize,
    /// Those in which the fuse of the canary is open.
    pub fused: usize,
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
        now: Timestamp,
    ) -> Result<GroupCounters, Error> {
        let reported = self.metrics(record, COUNTERS).await?;
        let canary = record.rollout.as_ref().map_or("", |rollout| rollout.canary.as_str());
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let (name, proxies) = (release.to_string(), reported.len());
        let version = record.state.versions.iter().find(|version| version.name == canary);
        let (mut counters, mut fused) = (ProxyCounters::default(), 0);
        for (pod, metrics) in reported {
            if let Ok(metrics) = metrics {
                let of = |version| metrics.group_counters(&name, version);
                counters.insert(pod, of(canary), of(stable));
                let until = version.and_then(|version| metrics.release(&name).fused_until(version));
                fused += usize::from(until.is_some_and(|until| is_later(until, now)));
            }
        }
        Ok(GroupCounters { counters, proxies, fused })
    }
}

fn is_later(seconds: u64, now: Timestamp) -> bool {
    i64::try_from(seconds).is_ok_and(|seconds| seconds > now.as_second())
}
