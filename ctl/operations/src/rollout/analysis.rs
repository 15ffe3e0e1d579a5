//! Measures the metrics of a rollout. Which are due, and what their values say, is pure; here is who asks.

use canary_release::analysis::MeasuredValues;
use canary_release::prometheus::QueryError;
use canary_release::record::Record;
use canary_release::rollout::{MeasurementQueries, MeasurementRequest, MeasurementResult};
use canary_release::spec::{FiniteNumber, MetricQuery};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Answers queries of rollouts. This library has no HTTP client for them.
pub trait MetricSource: Send + Sync {
    /// The present values of queries, in their order. The future ends in a bounded time, however long the server takes.
    fn query<'a>(&'a self, queries: &'a [String]) -> BoxFuture<'a, Vec<Result<FiniteNumber, QueryError>>>;
}

/// The metrics of the driver's file. A record has names alone: its writers choose neither whom a driver asks nor what.
pub(super) struct MetricAnalysis {
    /// By the names of the metrics.
    pub(super) queries: BTreeMap<String, MetricQuery>,
    /// Their source.
    pub(super) source: Option<Arc<dyn MetricSource>>,
}

/// Measures what is due.
pub(super) async fn measure(
    analysis: Option<&MetricAnalysis>,
    record: &Record,
    now: Timestamp,
) -> Vec<MeasurementResult> {
    let Some(analysis) = analysis else { return Vec::new() };
    let requests = record.measurement_requests(&analysis.queries, now);
    let asked = requests.iter().filter_map(|request| request.queries.as_ref().ok());
    let queries: Vec<String> = asked.flat_map(MeasurementQueries::iter).cloned().collect();
    let mut values = analysis.ask(&queries).await.into_iter();
    let mut next = || values.next().unwrap_or_else(|| Err(QueryError::NoResponse("no response".to_owned())));
    let result = |MeasurementRequest { metric, queries }: MeasurementRequest| {
        let values = queries.map(|queries| {
            let canary = next();
            let stable = queries.stable.map(|_| next());
            MeasuredValues { canary, stable }
        });
        MeasurementResult { metric, values }
    };
    requests.into_iter().map(result).collect()
}

impl MetricAnalysis {
    async fn ask(&self, queries: &[String]) -> Vec<Result<FiniteNumber, QueryError>> {
        match &self.source {
            _ if queries.is_empty() => Vec::new(),
            Some(source) => source.query(queries).await,
            None => {
                let reason = "expected a Prometheus in the driver's file, found none";
                queries.iter().map(|_| Err(QueryError::NoResponse(reason.to_owned()))).collect()
            }
        }
    }
}
