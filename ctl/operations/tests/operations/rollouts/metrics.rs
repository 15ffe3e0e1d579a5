//! Metrics of a rollout: a Prometheus beside the proxies' counters, which are those of a good canary in each of these rollouts.

use super::{Canary, INTERVAL, MANY, RolloutFixture, assert_is_over};
use canary_operations::{Cluster, MetricSource, RolloutDriver, RolloutReport};
use canary_release::alert::RolloutResult;
use canary_release::prometheus::QueryError;
use canary_release::rollout::{RolloutAction, RolloutPhase};
use canary_release::spec::FiniteNumber;
use fake_api_server::fixture::run;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A server that knows the latency of each version, in milliseconds.
#[derive(Default)]
pub(super) struct FakePrometheus {
    state: Mutex<PrometheusState>,
}

#[derive(Default)]
struct PrometheusState {
    latency: BTreeMap<&'static str, f64>,
    is_away: bool,
    /// Each query, in their order.
    asked: Vec<String>,
}

impl FakePrometheus {
    pub(super) fn with_latency(canary: f64) -> Arc<Self> {
        let prometheus = Arc::new(Self::default());
        prometheus.set(|state| state.latency = BTreeMap::from([("v1", 120.0), ("v2", canary)]));
        prometheus
    }

    /// Each query that it was asked.
    pub(super) fn asked(&self) -> Vec<String> {
        self.set(|state| state.asked.clone())
    }

    fn set<T>(&self, change: impl FnOnce(&mut PrometheusState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PrometheusState {
    fn value(&mut self, query: &str) -> Result<FiniteNumber, QueryError> {
        self.asked.push(query.to_owned());
        if self.is_away {
            return Err(QueryError::NoResponse("http://prometheus:9090: connection refused".to_owned()));
        }
        let (_, version) = query.split_once("version=").unwrap_or_default();
        let value = self.latency.get(version.trim_matches(['"', '}'])).copied();
        value.and_then(FiniteNumber::new).ok_or(QueryError::Empty)
    }
}

impl MetricSource for FakePrometheus {
    fn query<'a>(&'a self, queries: &'a [String]) -> BoxFuture<'a, Vec<Result<FiniteNumber, QueryError>>> {
        let values = queries.iter().map(|query| self.set(|state| state.value(query))).collect();
        Box::pin(std::future::ready(values))
    }
}

/// A good canary whose latency must not be above 500 ms, measured with each observation.
pub(super) async fn started() -> RolloutFixture {
    let metric = json!({"name": "latency", "query": "latency{version=\"{{ version }}\"}", "interval": "30s", "max": 500});
    started_with(&metric).await
}

async fn started_with(metric: &Value) -> RolloutFixture {
    let settings = json!({"prometheus": {"address": "http://prometheus:9090"}, "metrics": [metric]});
    RolloutFixture::started_with(Canary::Good, &settings).await
}

/// A driver with the queries of the file of the release.
pub(super) fn driver<'c>(
    fixture: &RolloutFixture,
    cluster: &'c Cluster,
    prometheus: &Arc<FakePrometheus>,
) -> RolloutDriver<'c> {
    let queries = fixture.release.rollout.analysis.queries.clone();
    fixture.driver(cluster).with_metrics(queries, Some(Arc::clone(prometheus) as Arc<_>))
}

/// One driver while time passes, until the rollout has ended or so often.
pub(super) async fn drive(
    fixture: &mut RolloutFixture,
    prometheus: &Arc<FakePrometheus>,
    times: usize,
) -> RolloutReport {
    let cluster = fixture.api.cluster().await;
    let mut driver = driver(fixture, &cluster, prometheus);
    let mut report = driver.reconcile(fixture.now).await.unwrap();
    for _ in 1..times {
        if report.ended().is_some() {
            return report;
        }
        fixture.pass().await;
        report = driver.reconcile(fixture.now).await.unwrap();
    }
    report
}

#[test]
fn a_canary_that_is_slow_is_rolled_back_though_it_fails_no_more_than_stable() {
    run(async {
        let mut fixture = started().await;
        let report = drive(&mut fixture, &FakePrometheus::with_latency(812.0), MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        let reason = &report.record.rollout.as_ref().unwrap().ended.as_ref().unwrap().reason;
        assert_eq!(
            reason,
            "metric `latency`: expected at most 500, found 812, 3 of 3 times in a row, stable 120"
        );
        assert_eq!(fixture.weights, ["1%", "0%"]);
        assert_is_over(&fixture, "slow").await;
    });
}

#[test]
fn a_canary_that_is_fast_is_promoted_and_measured_in_each_step() {
    run(async {
        let mut fixture = started().await;
        let prometheus = FakePrometheus::with_latency(110.0);
        let report = drive(&mut fixture, &prometheus, MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        assert_eq!(fixture.weights, ["1%", "10%", "50%", "0%"], "promoted, it is stable");
        assert!(prometheus.asked().len() >= 3 * 3 * 2, "both versions in each step");
    });
}

#[test]
fn while_prometheus_is_away_the_weight_stays_and_afterwards_the_rollout_goes_on() {
    run(async {
        let mut fixture = started().await;
        let prometheus = FakePrometheus::with_latency(110.0);
        drive(&mut fixture, &prometheus, 3).await;
        prometheus.set(|state| state.is_away = true);
        let report = drive(&mut fixture, &prometheus, 40).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        let away = "metric `latency`: no result, 3 of 3 times in a row: the canary: http://prometheus:9090: connection refused";
        assert_eq!(report.decision.reason, away);
        assert_eq!(report.record.state.weight.to_string(), "1%", "the weight stays");
        prometheus.set(|state| state.is_away = false);
        let report = drive(&mut fixture, &prometheus, MANY).await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
    });
}

#[test]
fn a_driver_without_a_prometheus_waits_and_says_what_is_missing() {
    run(async {
        let mut fixture = started().await;
        let report = super::observe(&mut fixture, 20).await;
        assert_eq!(report.decision.phase, RolloutPhase::Waiting, "{:?}", report.decision);
        assert_eq!(report.decision.reason, "metric `latency`: not measured in this step yet");
        assert_eq!(report.record.state.weight.to_string(), "1%");
    });
}

#[test]
fn two_drivers_do_not_make_one_minute_two_measurements() {
    run(async {
        let mut fixture = started().await;
        let prometheus = FakePrometheus::with_latency(812.0);
        let clusters = [fixture.api.cluster().await, fixture.api.cluster().await];
        let mut drivers: Vec<RolloutDriver<'_>> =
            clusters.iter().map(|cluster| driver(&fixture, cluster, &prometheus)).collect();
        let begun = fixture.now;
        let failed = loop {
            let mut is_failed = false;
            for driver in &mut drivers {
                let report = driver.reconcile(fixture.now).await.unwrap();
                is_failed |= report.record.rollout.as_ref().unwrap().ending.is_some();
            }
            if is_failed {
                break fixture.now;
            }
            fixture.pass().await;
            assert!(fixture.now < begun + INTERVAL * 20, "it does not fail");
        };
        assert_eq!(failed, begun + INTERVAL * 3, "three intervals after the step began");
    });
}

#[test]
fn an_observation_measures_and_writes_nothing() {
    run(async {
        let mut fixture = started().await;
        let prometheus = FakePrometheus::with_latency(812.0);
        drive(&mut fixture, &prometheus, 2).await;
        fixture.pass().await;
        let before = fixture.record().await;
        let cluster = fixture.api.cluster().await;
        let report = driver(&fixture, &cluster, &prometheus).observe(fixture.now).await.unwrap();
        let text = report.assessment.metrics[0].to_string();
        assert_eq!(
            text,
            "metric `latency`: expected at most 500, found 812, 2 of 3 times in a row, stable 120"
        );
        assert_eq!(fixture.record().await, before);
    });
}

#[test]
fn nothing_is_measured_while_the_weight_of_the_step_is_not_in_the_objects() {
    run(async {
        let mut fixture = started().await;
        let prometheus = FakePrometheus::with_latency(110.0);
        let asked = || prometheus.asked().len();
        let cluster = fixture.api.cluster().await;
        fixture.api.deny_after_dry_run("canary-gateway-config", "the platform says no");
        driver(&fixture, &cluster, &prometheus).reconcile(fixture.now).await.unwrap_err();
        fixture.api.allow();
        fixture.pass().await;
        let mut driver = driver(&fixture, &cluster, &prometheus);
        let report = driver.reconcile(fixture.now).await.unwrap();
        assert_eq!((report.decision.action, asked()), (RolloutAction::Deploy, 0));
        fixture.pass().await;
        driver.reconcile(fixture.now).await.unwrap();
        assert_eq!(asked(), 2, "both versions, when it is");
    });
}
