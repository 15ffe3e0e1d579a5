//! Measures the metrics of a rollout. Which are due, and what their values say, is pure; here is who asks.

use canary_release::analysis::{MeasuredValues, QueryError};
use canary_release::record::Record;
use canary_release::rollout::{MeasurementRequest, MeasurementResult};
use canary_release::spec::FiniteNumber;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

/// Answers queries of rollouts. This library has no HTTP client for them; a driver without a source measures nothing, and a rollout with metrics
/// waits.
pub trait MetricSource: Send + Sync {
    /// The present values of queries, in their order. The future ends in a bounded time, however long the server takes.
    fn query<'a>(&'a self, queries: &'a [String]) -> BoxFuture<'a, Vec<Result<FiniteNumber, QueryError>>>;
}

/// Measures what is due.
pub(super) async fn measure(
    source: Option<&dyn MetricSource>,
    record: &Record,
    now: Timestamp,
) -> Vec<MeasurementResult> {
    let Some(source) = source else { return Vec::new() };
    let requests = record.measurement_requests(now);
    let queries: Vec<String> = requests.iter().flat_map(queries).cloned().collect();
    if queries.is_empty() {
        return Vec::new();
    }
    let mut values = source.query(&queries).await.into_iter();
    let mut next = || values.next().unwrap_or_else(|| Err(QueryError::NoResponse("no response".to_owned())));
    let result = |MeasurementRequest { metric, stable, .. }: MeasurementRequest| {
        let canary = next();
        let stable = stable.map(|_| next());
        MeasurementResult { metric, values: MeasuredValues { canary, stable } }
    };
    requests.into_iter().map(result).collect()
}

fn queries(request: &MeasurementRequest) -> impl Iterator<Item = &String> {
    [&request.canary].into_iter().chain(&request.stable)
}
