//! `rollout test-metrics`: what the queries of a rollout find now, before one depends on them.

use crate::command::arguments::{ClusterAccess, Output, SpecFile, only_client};
use crate::command::target;
use crate::prometheus::HttpMetricSource;
use crate::report::{Printer, Report, Table};
use crate::{Error, Outcome, module};
use canary_operations::MetricSource as _;
use canary_release::analysis::{MeasuredValues, Measurement, Outcome as Measured};
use canary_release::prometheus::QueryError;
use canary_release::rollout::MeasurementQueries;
use canary_release::spec::{
    AnalysisSpec, FiniteNumber, PrometheusServer, ReleaseName, RolloutMetric, SecretSource,
};
use clap::{ArgAction, Args};
use serde::Serialize;
use std::fmt;

/// Ask Prometheus for the metrics of a rollout, and say what they would say
#[derive(Clone, Debug, Args)]
#[command(after_help = "Exit codes: 0 all values are as expected, 1 one is not or is missing, 2 failed.

Examples:
  canary-ctl rollout test-metrics            the values of both versions now
  canary-ctl rollout test-metrics --dry-run  print the queries, and ask nothing")]
pub(in crate::command) struct TestMetrics {
    #[command(flatten)]
    pub(in crate::command) spec: SpecFile,
    /// Print what would be asked, and ask nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(in crate::command) dry_run: bool,
    /// The cluster, where the token stands in a Secret.
    #[command(flatten)]
    pub(in crate::command) cluster: ClusterAccess,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// The results of the queries.
#[derive(Clone, Debug, Serialize)]
struct MetricTestReport {
    release: String,
    metrics: Vec<MetricResult>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MetricResult {
    name: String,
    /// The query for the canary.
    query: String,
    /// `None` where nothing was asked.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    measurement: Option<Measurement>,
}

pub(super) async fn test(arguments: &TestMetrics, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = module::load(&arguments.spec.file)?;
    target::for_a_cluster(&document)?;
    target::check_namespace(&document, &arguments.cluster)?;
    let name = document.release.name.clone();
    let release = &document.release;
    let analysis = &release.rollout.analysis;
    let Some(server) = analysis.prometheus.as_ref().filter(|_| !analysis.metrics.is_empty()) else {
        let message = "expected metrics in `rollout.metrics`, found none";
        return Err(Error::usage(message, "docs/rollouts.md shows how to name them"));
    };
    let Some(canary) = release.versions.canary.as_deref() else {
        return Err(Error::usage(
            "expected a canary in `versions`, found none",
            "name it in `versions.canary`",
        ));
    };
    let asked = queries(analysis, canary, &release.versions.stable)?;
    let mut metrics = Vec::new();
    if arguments.dry_run {
        metrics.extend(asked.into_iter().map(|(metric, queries)| MetricResult {
            name: metric.name.clone(),
            query: queries.canary,
            measurement: None,
        }));
    } else {
        let source = source(server, &name, arguments).await?;
        for (metric, queries) in asked {
            metrics.push(measure(metric, queries, &source).await);
        }
    }
    let has_passed = |result: &MetricResult| {
        result.measurement.as_ref().is_none_or(|found| found.outcome == Measured::Passed)
    };
    let outcome = if metrics.iter().all(has_passed) { Outcome::Done } else { Outcome::Differences };
    printer.report(&MetricTestReport { release: name.to_string(), metrics })?;
    Ok(outcome)
}

/// The server, with a cluster where its token stands in a Secret.
async fn source(
    server: &PrometheusServer,
    name: &ReleaseName,
    arguments: &TestMetrics,
) -> Result<HttpMetricSource, Error> {
    let secrets = match server.bearer_token_from {
        Some(SecretSource::Secret { .. }) => {
            Some(target::connect(&arguments.cluster).await?.secrets(name.namespace.as_str()))
        }
        _ => None,
    };
    Ok(HttpMetricSource::new(server.clone(), secrets))
}

/// The metrics of a file, each with its queries.
fn queries<'s>(
    analysis: &'s AnalysisSpec,
    canary: &str,
    stable: &str,
) -> Result<Vec<(&'s RolloutMetric, MeasurementQueries)>, Error> {
    let wrong = |error: QueryError| Error::usage(error.to_string(), "a version is the value of a label");
    let queries = |metric: &'s RolloutMetric| {
        let query = analysis.queries.get(&metric.name)?;
        let queries = MeasurementQueries::new(query, canary, Some(stable)).map_err(wrong);
        Some(queries.map(|queries| (metric, queries)))
    };
    analysis.metrics.iter().filter_map(queries).collect()
}

async fn measure(
    metric: &RolloutMetric,
    queries: MeasurementQueries,
    source: &HttpMetricSource,
) -> MetricResult {
    let asked: Vec<String> = queries.iter().cloned().collect();
    let mut values = source.query(&asked).await.into_iter();
    let measurement =
        values.next().map(|canary| metric.measure(&MeasuredValues { canary, stable: values.next() }));
    MetricResult { name: metric.name.clone(), query: queries.canary, measurement }
}

impl Report for MetricTestReport {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut table = Table::new(["METRIC", "CANARY", "STABLE", "RESULT"]);
        for MetricResult { name, query, measurement } in &self.metrics {
            let Some(Measurement { outcome, reason, canary, stable }) = measurement else {
                table.row([name.clone(), String::new(), String::new(), format!("would ask {query}")]);
                continue;
            };
            let value = |value: &Option<FiniteNumber>| {
                value.map_or_else(|| "-".to_owned(), |value| value.to_string())
            };
            let result = match outcome {
                Measured::Passed => "passed".to_owned(),
                Measured::Failed => format!("failed: {reason}"),
                Measured::Unknown => format!("no result: {reason}"),
            };
            table.row([name.clone(), value(canary), value(stable), result]);
        }
        write!(out, "{table}")
    }
}
