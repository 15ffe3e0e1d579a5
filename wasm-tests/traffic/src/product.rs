//! Where the model meets the product: the counters of the model as those of the product, and the interval of two observations. What the
//! product does not count is left out here, and nowhere else.

use crate::counters::{Counters, PROXIES};
use canary_release::evidence::{IntervalCounts, ProxyCounters, ReleaseCounters};

/// The counters of all proxies: canary and stable.
pub(crate) type Observed = [[Counters; 2]; PROXIES as usize];

/// What the next observation is compared with.
pub(crate) struct Baseline {
    /// The generation of the record.
    pub(crate) generation: u64,
    /// The number of intervals that its evidence had.
    pub(crate) intervals: u64,
    before: Option<ProxyCounters>,
    last: ProxyCounters,
}

impl Baseline {
    /// The observation that follows another; `earlier` is of the same generation.
    pub(crate) fn next(earlier: Option<Self>, generation: u64, intervals: u64, observed: &Observed) -> Self {
        let before = earlier.filter(|earlier| earlier.generation == generation).map(|earlier| earlier.last);
        Self { generation, intervals, before, last: proxy_counters(observed) }
    }

    /// What was counted since.
    pub(crate) fn interval(&self, observed: &Observed) -> IntervalCounts {
        IntervalCounts::between(self.before.as_ref(), &self.last, &proxy_counters(observed))
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
    }
}
