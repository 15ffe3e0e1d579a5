//! How long the responses of a version took, as proxies count it where a release has `latencyHistogram`.

use super::ProxyMetrics;
use crate::spec::{LatencyPercentile, Milliseconds};
use std::collections::{BTreeMap, BTreeSet};

const BUCKETS: &str = "canary_latency_milliseconds_bucket";
const COUNT: &str = "canary_latency_milliseconds_count";

/// The responses of a version to users, by the time that they took, of several proxies, since each of them started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyHistogram {
    /// Of each proxy its responses up to so many milliseconds. Pods may have buckets of their own.
    proxies: Vec<BTreeMap<u64, u64>>,
    responses: u64,
}

impl LatencyHistogram {
    /// Adds those of a proxy. `release` is `<namespace>/<name>`; `tag` is `<version>/<role>`, as the filter names it.
    pub fn add(&mut self, metrics: &ProxyMetrics, release: &str, tag: &str) {
        let of_version = [("component", release), ("tag", tag)];
        let mut buckets = BTreeMap::new();
        for sample in metrics.samples() {
            if sample.is(COUNT, &of_version) {
                self.responses += sample.count().unwrap_or_default();
            } else if sample.is(BUCKETS, &of_version) {
                let edge = sample.labels.get("le").and_then(|edge| whole(edge));
                buckets.extend(edge.zip(sample.count()));
            }
        }
        self.proxies.push(buckets);
    }

    /// Their number.
    pub const fn responses(&self) -> u64 {
        self.responses
    }

    /// The least edge of a bucket up to which this share of the responses came; `None` where they took longer than all edges, and without
    /// responses.
    pub fn percentile(&self, percentile: LatencyPercentile) -> Option<Milliseconds> {
        let edges: BTreeSet<u64> = self.proxies.iter().flat_map(BTreeMap::keys).copied().collect();
        let expected = self.responses.saturating_mul(percentile.percent());
        let is_enough = |edge: &u64| self.responses > 0 && self.up_to(*edge).saturating_mul(100) >= expected;
        Milliseconds::try_from(edges.into_iter().find(is_enough)?).ok()
    }

    /// The responses that took at most so long. Of a proxy without this edge those up to the one below it, which are at most as many.
    fn up_to(&self, milliseconds: u64) -> u64 {
        let of = |buckets: &BTreeMap<u64, u64>| {
            buckets.range(..=milliseconds).next_back().map(|(_, count)| *count)
        };
        self.proxies.iter().filter_map(of).sum()
    }
}

/// An edge in whole milliseconds. Envoy has one of half a millisecond, and the last one is infinite.
fn whole(edge: &str) -> Option<u64> {
    edge.strip_suffix(".0").unwrap_or(edge).parse().ok().filter(|edge| *edge > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a proxy whose responses of stable took at most 10, 25 and 100 ms, and longer.
    fn proxy([ten, twenty_five, hundred, all]: [u64; 4]) -> ProxyMetrics {
        let bucket = |edge: &str, count: u64| {
            format!("{BUCKETS}{{component=\"shop/shop\",tag=\"v1/stable\",le=\"{edge}\"}} {count}\n")
        };
        ProxyMetrics::parse(&format!(
            "{}{}{}{}{}{}{COUNT}{{component=\"shop/shop\",tag=\"v1/stable\"}} {all}\n\
             {COUNT}{{component=\"shop/shop\",tag=\"v1/override\"}} 999\n\
             {BUCKETS}{{component=\"shop/web\",tag=\"v1/stable\",le=\"1\"}} 999\n",
            bucket("0", all),
            bucket("0.5", 0),
            bucket("10", ten),
            bucket("25", twenty_five),
            bucket("100", hundred),
            bucket("+Inf", all),
        ))
    }

    fn histogram(proxies: &[ProxyMetrics]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        for metrics in proxies {
            histogram.add(metrics, "shop/shop", "v1/stable");
        }
        histogram
    }

    #[test]
    fn a_percentile_is_the_least_edge_that_has_its_share_of_all_proxies() {
        let of = |proxies: &[ProxyMetrics], percentile| {
            histogram(proxies).percentile(percentile).map(Milliseconds::get)
        };
        let one = [proxy([900, 950, 990, 1_000])];
        assert_eq!(histogram(&one).responses(), 1_000);
        assert_eq!(
            LatencyPercentile::ALL.map(|percentile| of(&one, percentile)),
            [Some(10), Some(25), Some(100)]
        );
        let two = [proxy([900, 950, 990, 1_000]), proxy([0, 0, 1_000, 1_000])];
        assert_eq!(of(&two, LatencyPercentile::P90), Some(100), "half of 2,000 took longer than 25 ms");
        assert_eq!(of(&[proxy([900, 950, 980, 1_000])], LatencyPercentile::P99), None, "beyond all edges");
        assert_eq!(of(&[], LatencyPercentile::P90), None);
        assert_eq!(of(&[proxy([0; 4])], LatencyPercentile::P90), None);
    }

    #[test]
    fn proxies_with_other_edges_count_up_to_the_edge_below() {
        let own = ProxyMetrics::parse(&format!(
            "{BUCKETS}{{component=\"shop/shop\",tag=\"v1/stable\",le=\"50\"}} 1000\n\
             {COUNT}{{component=\"shop/shop\",tag=\"v1/stable\"}} 1000\n"
        ));
        let both = histogram(&[proxy([1_000; 4]), own]);
        assert_eq!(both.percentile(LatencyPercentile::P90).map(Milliseconds::get), Some(50));
    }
}
