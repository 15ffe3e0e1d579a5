//! A Prometheus that scrapes the proxies: for clusters in which neither the API server nor the kubelet reaches them.

use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics};
use futures_util::future::BoxFuture;

/// Reads what was scraped. This library has no HTTP client for it.
pub trait ScrapedMetrics: Send + Sync {
    /// The metrics of a proxy at its last scrape.
    ///
    /// The future fails if there is no recent scrape, or no response. The reason has no secret.
    fn read<'a>(
        &'a self,
        pod: &'a PodName,
        filter: &'a MetricFilter,
    ) -> BoxFuture<'a, Result<ProxyMetrics, String>>;
}
