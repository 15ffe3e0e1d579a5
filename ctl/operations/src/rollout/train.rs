//! What the proxies of the other releases of a train have counted of them. Nothing here fails a rollout: what cannot be read is said.

use super::baseline::Interval;
use super::counters::version_counters;
use crate::Cluster;
use crate::operation::train::TrainRelease;
use canary_release::evidence::{InnerReport, ProxyCounters, ProxyCoverage, TrainReport};
use canary_release::metrics::MetricFilter;
use canary_release::record::Record;
use canary_release::rollout::{InnerRelease, MAX_INNER_RELEASES};
use canary_release::spec::ReleaseName;
use futures_util::future::join_all;
use std::collections::BTreeMap;

/// The parts of the names of these metrics in the proxy.
const COUNTERS: &str = "canary_group_";

/// The counters of the other releases of a train.
#[derive(Clone, Debug, Default)]
pub(super) struct TrainCounters {
    releases: BTreeMap<ReleaseName, Inner>,
    unread: Option<String>,
}

/// The state of one of them.
#[derive(Clone, Debug)]
enum Inner {
    Counted(InnerCounters),
    /// It has no canary, so its users have no other version.
    WithoutCanary,
    Unread(String),
}

/// The counters of one of them.
#[derive(Clone, Debug)]
pub(super) struct InnerCounters {
    pub(super) release: InnerRelease,
    pub(super) counters: ProxyCounters,
    /// The ready proxies that call it.
    proxies: usize,
}

impl Cluster {
    /// The counts of both versions in the proxies that call the other releases of the train. Releases with gateways of their own are none of
    /// them: their users are others.
    pub(super) async fn train_counters(&self, release: &ReleaseName, record: &Record) -> TrainCounters {
        let Some(member) = record.observed_train() else { return TrainCounters::default() };
        let mut all = TrainCounters::default();
        match self.members_of(release, member).await {
            Ok(found) => {
                let others = found.into_iter().filter(|other| other.name != *release);
                let counted = others.map(async |TrainRelease { name, stored }| {
                    (self.inner(&name, &stored.record).await, name)
                });
                let counted = join_all(counted).await;
                all.releases = counted.into_iter().filter_map(|(inner, name)| Some((name, inner?))).collect();
            }
            Err(error) => all.unread = Some(error.to_string()),
        }
        let known = record.rollout.iter().flat_map(|rollout| rollout.train.keys());
        for name in known {
            let missing = || {
                Inner::Unread(
                    all.unread.clone().unwrap_or_else(|| "expected its record, found none".to_owned()),
                )
            };
            if !all.releases.contains_key(name) {
                let missing = missing();
                all.releases.insert(name.clone(), missing);
            }
        }
        all
    }

    /// `None` for a release with gateways.
    async fn inner(&self, name: &ReleaseName, record: &Record) -> Option<Inner> {
        record.train.as_ref().filter(|member| member.is_inner)?;
        let Some(release) = InnerRelease::of(record) else { return Some(Inner::WithoutCanary) };
        let filter = MetricFilter::of_release(&name.to_string(), COUNTERS);
        Some(match self.metrics(record, filter).await {
            Ok(reported) => {
                let counters = version_counters(&reported, name, [&release.canary, &release.stable]);
                Inner::Counted(InnerCounters { release, counters, proxies: reported.len() })
            }
            Err(error) => Inner::Unread(error.to_string()),
        })
    }
}

impl TrainCounters {
    /// Of those that were counted.
    pub(super) fn counters(&self) -> impl Iterator<Item = (&ReleaseName, &InnerCounters)> {
        self.releases.iter().filter_map(|(name, inner)| match inner {
            Inner::Counted(counters) => Some((name, counters)),
            Inner::WithoutCanary | Inner::Unread(_) => None,
        })
    }

    /// The same, taken.
    pub(super) fn into_counters(self) -> impl Iterator<Item = (ReleaseName, InnerCounters)> {
        self.releases.into_iter().filter_map(|(name, inner)| match inner {
            Inner::Counted(counters) => Some((name, counters)),
            Inner::WithoutCanary | Inner::Unread(_) => None,
        })
    }

    /// Which were observed; `None` for one without a canary.
    pub(super) fn observed(&self) -> BTreeMap<ReleaseName, Option<InnerRelease>> {
        let of = |(name, inner): (&ReleaseName, &Inner)| match inner {
            Inner::Counted(counters) => Some((name.clone(), Some(counters.release.clone()))),
            Inner::WithoutCanary => Some((name.clone(), None)),
            Inner::Unread(_) => None,
        };
        self.releases.iter().filter_map(of).collect()
    }

    /// Their report, if `record` keeps the evidence.
    pub(super) fn report(&self, record: &Record, interval: Option<&Interval>) -> TrainReport {
        let is_kept = |name: &ReleaseName| {
            record.rollout.as_ref().is_some_and(|rollout| rollout.train.contains_key(name))
        };
        let of = |(name, inner): (&ReleaseName, &Inner)| {
            let unread =
                |reason: String| InnerReport { release: name.clone(), proxies: None, unread: Some(reason) };
            match inner {
                Inner::Counted(_) if !is_kept(name) => {
                    unread(format!("evidence is kept of at most {MAX_INNER_RELEASES} releases"))
                }
                Inner::Counted(inner) => {
                    let interval = interval.and_then(|interval| interval.train.get(name));
                    let observed = interval.map_or(inner.counters.len(), |interval| interval.proxies);
                    let proxies = Some(ProxyCoverage { observed, of: inner.proxies });
                    InnerReport { release: name.clone(), proxies, unread: None }
                }
                Inner::WithoutCanary => unread("it has no canary".to_owned()),
                Inner::Unread(reason) => unread(reason.clone()),
            }
        };
        TrainReport { releases: self.releases.iter().map(of).collect(), unread: self.unread.clone() }
    }
}
