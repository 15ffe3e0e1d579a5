//! Asks a Prometheus server for what it has scraped from a proxy.

use crate::http::Limits;
use crate::prometheus::HttpMetricSource;
use canary_operations::ScrapedMetrics;
use canary_release::metrics::{MetricFilter, PodName, ProxyMetrics, scraped_metrics};
use canary_release::spec::PrometheusServer;
use futures_util::future::BoxFuture;
use std::time::Duration;

/// A gateway with 1,600 releases has a series for each, and a value for each scrape.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(3), body_bytes: 16 * 1024 * 1024 };

/// Asks as the source of a rollout's metrics does.
pub(crate) struct HttpScrapedMetrics {
    source: HttpMetricSource,
}

impl HttpScrapedMetrics {
    pub(crate) const fn new(server: PrometheusServer) -> Self {
        Self { source: HttpMetricSource::with_limits(server, None, LIMITS) }
    }
}

impl ScrapedMetrics for HttpScrapedMetrics {
    fn read<'a>(
        &'a self,
        pod: &'a PodName,
        filter: &'a MetricFilter,
    ) -> BoxFuture<'a, Result<ProxyMetrics, String>> {
        Box::pin(async move {
            let series = self.source.series(&filter.scraped_query(pod)).await;
            let series = series.map_err(|error| error.to_string())?;
            scraped_metrics(&series).map_err(|error| error.to_string())
        })
    }
}
