//! A Prometheus that scrapes the proxies: for clusters in which neither the API server nor the kubelet reaches them.

use canary_release::metrics::{PodName, ProxyMetrics};
use futures_util::future::BoxFuture;

/// Reads what was scraped. This library has no HTTP client for it.
pub trait ScrapedMetrics: Send + Sync {
    /// The metrics of a proxy at its last scrape whose names contain what the regular expression `names` matches.
    ///
    /// The future fails if there is no recent scrape, or no response. The reason has no secret.
    fn read<'a>(&'a self, pod: &'a PodName, names: &'a str) -> BoxFuture<'a, Result<ProxyMetrics, String>>;
}
