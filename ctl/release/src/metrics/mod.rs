//! What a proxy reports of itself and of the releases in it, as Prometheus text.
//!
//! Istio's proxies serve it on port 15090, a local Envoy on its admin interface.
//!
//! ```text
//! sample            one line: name, labels, value                  text             -> Samples
//! proxy_metrics     all samples of one proxy, found by their name  text             -> ProxyMetrics
//! metric_filter     which of them are read, in Envoy's form and in Prometheus'
//! scraped           the same, as a Prometheus has scraped it       Series           -> ProxyMetrics
//! release_metrics   what the filter counts for one release         ProxyMetrics     -> ReleaseMetrics
//! latency_histogram how long responses took, of all proxies        ProxyMetrics    -> LatencyHistogram
//! traffic           requests by version, of all proxies, and       ReleaseMetrics   -> Traffic
//!                   between two observations
//! ```
//!
//! # Source
//! [Text format](https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format);
//! [`/stats/prometheus`](https://www.envoyproxy.io/docs/envoy/latest/operations/admin#get--stats-prometheus).

mod latency_histogram;
mod metric_filter;
mod proxy_metrics;
mod release_metrics;
mod sample;
mod scraped;
mod traffic;

pub use latency_histogram::LatencyHistogram;
pub use metric_filter::MetricFilter;
pub use proxy_metrics::ProxyMetrics;
pub use release_metrics::{Labels, ReleaseGeneration, ReleaseMetrics};
pub use sample::{Sample, parse_samples};
pub use scraped::{MAX_SCRAPE_AGE, NotScraped, scraped_metrics};
pub use traffic::{PodName, ReturningSessions, Traffic, VersionTraffic};
