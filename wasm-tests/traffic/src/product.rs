//! Where the model meets the product: the counters of the model as those of the product, and the interval of two observations.

use crate::counters::{Counters, INTERVAL, PROXIES};
use canary_release::evidence::{IntervalCounts, ProxyCounters, ReleaseCounters};

/// The counters of all proxies: canary and stable.
pub(crate) type Observed = [[Counters; 2]; PROXIES as usize];

/// What the next observation is compared with.
pub(crate) struct Baseline {
    /// The generation of the record.
    pub(crate) generation: u64,
    /// The number of intervals that its evidence had.
    pub(crate) intervals: u64,
    last: ProxyCounters,
}

impl Baseline {
    pub(crate) fn new(generation: u64, intervals: u64, observed: &Observed) -> Self {
        Self { generation, intervals, last: proxy_counters(observed) }
    }

    /// What was counted since.
    pub(crate) fn interval(&self, observed: &Observed) -> IntervalCounts {
        let counts = IntervalCounts::between(&self.last, &proxy_counters(observed));
        IntervalCounts { seconds: INTERVAL.into(), ..counts }
    }
}

fn proxy_counters(observed: &Observed) -> ProxyCounters {
    let mut all = ProxyCounters::default();
    for (proxy, [canary, stable]) in observed.iter().enumerate() {
        let pod = ("istio-ingress".to_owned(), format!("gateway-{proxy}"));
        all.insert(pod, release_counters(canary), release_counters(stable));
    }
    all
}

const fn release_counters(counters: &Counters) -> ReleaseCounters {
    ReleaseCounters {
        requests: counters.requests,
        responses: counters.responses,
        server_errors: counters.server_errors,
        client_errors: counters.client_errors,
        slow_responses: counters.slow_responses,
        unanswered: counters.unanswered,
        lost_sessions: counters.lost_sessions,
        emptied_sessions: counters.lost_sessions,
    }
}
