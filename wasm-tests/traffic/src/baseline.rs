//! Two observations, and the interval between them as the product makes it.

use crate::counters::{INTERVAL, PROXIES};
use canary_release::evidence::{IntervalCounts, ProxyCounters, ReleaseCounters};

/// The counters of all proxies: canary and stable.
pub(crate) type Observed = [[ReleaseCounters; 2]; PROXIES as usize];

/// The observation that the next one is compared with.
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

    /// The interval since then.
    pub(crate) fn interval(&self, observed: &Observed) -> IntervalCounts {
        let counts = IntervalCounts::between(&self.last, &proxy_counters(observed));
        IntervalCounts { seconds: INTERVAL.into(), ..counts }
    }
}

fn proxy_counters(observed: &Observed) -> ProxyCounters {
    let mut all = ProxyCounters::default();
    for (proxy, [canary, stable]) in observed.iter().enumerate() {
        let pod = ("istio-ingress".to_owned(), format!("gateway-{proxy}"));
        all.insert(pod, *canary, *stable);
    }
    all
}
