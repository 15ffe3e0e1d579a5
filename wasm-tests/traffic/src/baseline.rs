//! Two observations, and the interval between them as the product makes it.

use crate::counters::{INTERVAL, PROXIES};
use canary_release::evidence::{IntervalCounts, ProxyCounters, ReleaseCounters, RestartCount, RestartCounts};

/// The state of proxies and pods at an observation.
pub(crate) struct Observed {
    /// The counters of all proxies: canary and stable.
    pub(crate) counters: [[ReleaseCounters; 2]; PROXIES as usize],
    /// The pods of the canary that have ended since the start.
    pub(crate) ended_pods: u64,
    /// The pods of the canary and of stable.
    pub(crate) pods: [u8; 2],
}

/// The observation that the next one is compared with.
pub(crate) struct Baseline {
    /// The generation of the record.
    pub(crate) generation: u64,
    /// The number of intervals that its evidence had.
    pub(crate) intervals: u64,
    last: ProxyCounters,
    ended_pods: u64,
}

impl Baseline {
    pub(crate) fn new(generation: u64, intervals: u64, observed: &Observed) -> Self {
        Self { generation, intervals, last: proxy_counters(observed), ended_pods: observed.ended_pods }
    }

    /// The interval since then.
    pub(crate) fn interval(&self, observed: &Observed) -> IntervalCounts {
        let counts = IntervalCounts::between(&self.last, &proxy_counters(observed));
        let canary_pods_ended = observed.ended_pods - self.ended_pods;
        let [canary, stable] = observed.pods.map(pods);
        let restarts = RestartCounts { canary, stable };
        IntervalCounts { seconds: INTERVAL.into(), canary_pods_ended, restarts, ..counts }
    }
}

/// Pods that are replaced: no container restarts in its pod.
const fn pods(pods: u8) -> RestartCount {
    RestartCount { restarts: 0, pods: pods as u64 }
}

fn proxy_counters(observed: &Observed) -> ProxyCounters {
    let mut all = ProxyCounters::default();
    for (proxy, [canary, stable]) in observed.counters.iter().enumerate() {
        let pod = ("istio-ingress".to_owned(), format!("gateway-{proxy}"));
        all.insert(pod, *canary, *stable);
    }
    all
}
