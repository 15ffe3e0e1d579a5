//! Rollouts from the start to their end, by one driver that nothing disturbs. Time is an argument, so a rollout of an hour takes a
//! moment.
//!
//! ```text
//! alerts, receiver  what is told of it, and who is told
//! baseline          which intervals are evidence
//! cost              requests and bytes of an observation
//! deliveries        what is sent again, and what is not
//! dependencies      other releases that have to be at a version
//! drivers           killed after any write, and two at once
//! edited_records    records that another user has edited
//! failure_kinds     4xx, slow responses, and restarts of containers
//! fuses             proxies that send new sessions to stable
//! hooks             Flagger's webhooks, over HTTP
//! holds             evidence against the canary that is too little for a rollback
//! gateways, silence proxies that come, start again, or do not answer
//! metrics           a Prometheus as a second source
//! scaled_down       stable with too few pods for the users who come back
//! last_alerts       a promotion that late proxies hold, and a release that is uninstalled
//! trains            the promotion of a front end and the API behind it
//! train_evidence    what the API does, where the front end hides it
//! waits             what a rollout that waits writes, whoever drives
//! manual            people who change the release meanwhile
//! races             emergencies at any request of a driver
//! ```

mod alerts;
mod baseline;
mod cost;
mod deliveries;
mod dependencies;
mod drivers;
mod edited_records;
mod failure_kinds;
mod fuses;
mod gateways;
mod holds;
mod hooks;
mod last_alerts;
mod manual;
mod metrics;
mod races;
mod receiver;
mod scaled_down;
mod silence;
mod train_evidence;
mod trains;
mod waits;

use canary_operations::{Cluster, Error, RolloutDriver, RolloutReport};
use canary_release::alert::RolloutResult;
use canary_release::record::Record;
use canary_release::rollout::{RolloutAction, RolloutPhase, RolloutVerb};
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{INGRESS, apply, pod, release, run, shop};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::time::Duration;

/// How long proxies are waited for that respond at once.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Between two observations.
const INTERVAL: SignedDuration = SignedDuration::from_secs(30);
/// More observations than any of these rollouts takes.
const MANY: usize = 80;
/// More writes than that.
const MANY_WRITES: u32 = 200;

/// How often a canary fails: of 40 responses in each user group and interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Canary {
    Good,
    /// 5 %.
    Failing,
}

/// `spec.rollout`: three steps of two minutes, 5xx and unanswered requests; with changes to it.
fn rollout(changes: &Value) -> Value {
    let step = |weight: u32| json!({"weight": weight, "hold": "2m"});
    let mut rollout = json!({"plans": {"default": [step(1), step(10), step(50)]}, "lostSessions": false});
    for (name, value) in changes.as_object().unwrap() {
        rollout[name] = value.clone();
    }
    rollout
}

/// The name of a gateway's pod.
fn gateway(number: usize) -> String {
    format!("gateway-{number}")
}

/// A release on a cluster whose rollout has begun, and the time there.
struct RolloutFixture {
    api: FakeApi,
    cluster: Cluster,
    release: Box<Release>,
    now: Timestamp,
    canary: Canary,
    /// What the canary's users got.
    responses: u64,
    /// The weights that were seen, without repetitions.
    weights: Vec<String>,
}

impl RolloutFixture {
    async fn started(canary: Canary) -> Self {
        Self::started_with(canary, &json!({})).await
    }

    /// Three steps of two minutes; with changes to `spec.rollout`.
    async fn started_with(canary: Canary, changes: &Value) -> Self {
        let release = release(&json!({"rollout": rollout(changes)}));
        Box::pin(Self::started_as(canary, &release)).await
    }

    async fn started_as(canary: Canary, release: &Release) -> Self {
        let mut fixture = Self::applied(canary, release).await;
        fixture.start().await.unwrap();
        fixture
    }

    async fn applied(canary: Canary, release: &Release) -> Self {
        let (api, release) = (shop(), Box::new(release.clone()));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        Self { api, cluster, release, now: Timestamp::now(), canary, responses: 0, weights: Vec::new() }
    }

    /// Gateways besides the first, up to this number.
    fn add_gateways(&self, count: usize) {
        for number in 2..=count {
            let gateway = pod(INGRESS, &gateway(number), &json!({"istio": "gateway"}));
            self.api.state().create(&gateway);
        }
    }

    async fn start(&mut self) -> Result<(), Error> {
        let stored = self.cluster.get_record(&self.release.name).await.unwrap();
        let plan = (&self.release.rollout, "default");
        self.cluster.start_rollout(&self.release.name, stored, plan, &[]).await.map(drop)
    }

    async fn ask(&self, verb: RolloutVerb) -> Result<(), Error> {
        let stored = self.cluster.get_record(&self.release.name).await.unwrap();
        self.cluster.change_rollout(&self.release.name, stored, verb, &[]).await.map(drop)
    }

    fn driver<'c>(&self, cluster: &'c Cluster) -> RolloutDriver<'c> {
        RolloutDriver::new(cluster, self.release.name.clone(), TIMEOUT)
    }

    async fn record(&self) -> Record {
        self.cluster.get_record(&self.release.name).await.unwrap().record
    }

    /// An interval passes: users get responses.
    async fn pass(&mut self) {
        let weight = self.record().await.state.weight;
        let is_served = weight.basis_points() > 0;
        let failed = if self.canary == Canary::Good { 0 } else { 2 };
        let mut state = self.api.state();
        if is_served {
            state.proxies.respond("v2", 40, failed);
            self.responses += 16 * 40 * u64::try_from(state.proxies.len()).unwrap();
        }
        state.proxies.respond("v1", 200, 0);
        drop(state);
        self.now += INTERVAL;
        let weight = weight.to_string();
        if self.weights.last() != Some(&weight) {
            self.weights.push(weight);
        }
    }

    /// Drives the rollout until it has ended, and fails if it does not.
    async fn drive(&mut self) -> RolloutReport {
        let cluster = self.api.cluster().await;
        let mut driver = self.driver(&cluster);
        for _ in 0..MANY {
            let report = driver.reconcile(self.now).await.unwrap();
            if report.ended().is_some() {
                return report;
            }
            self.pass().await;
        }
        panic!("the rollout has not ended after {MANY} observations: {:?}", self.record().await.rollout);
    }
}

/// Every object has the state of the record, and the proxies count by user group no more.
async fn assert_is_over(fixture: &RolloutFixture, context: &str) {
    let record = fixture.record().await;
    let left = fixture.cluster.unfinished(&fixture.release.name, &record).await.unwrap();
    assert!(left.is_empty(), "{context}: {left:?} is left");
    assert!(!fixture.api.state().proxies.is_counting(), "{context}: the proxies count on");
}

fn stable(record: &Record) -> &str {
    record.state.version_of(assignment::contract::Role::Stable).unwrap()
}

#[test]
fn a_good_canary_goes_from_its_first_step_to_the_promotion() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        assert!(fixture.api.state().proxies.is_counting(), "from the start on");
        let report = fixture.drive().await;
        assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{:?}", report.decision);
        assert_eq!(fixture.weights, ["1%", "10%", "50%", "0%"], "promoted, it is stable");
        assert_eq!(stable(&report.record), "v2");
        assert_is_over(&fixture, "promoted").await;
    });
}

#[test]
fn a_canary_that_fails_is_rolled_back_and_the_reason_has_the_numbers_of_both() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Failing).await;
        let report = fixture.drive().await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        let reason = &report.record.rollout.as_ref().unwrap().ended.as_ref().unwrap().reason;
        assert!(reason.starts_with("5xx: canary 5.00% of 2560 responses, stable 0.00% of 12800"), "{reason}");
        assert_eq!(stable(&report.record), "v1");
        assert_eq!(fixture.weights, ["1%", "0%"], "the first step was enough");
        assert_is_over(&fixture, "rolled back").await;
    });
}

/// No response was counted twice.
async fn assert_evidence_is_bounded(fixture: &RolloutFixture, context: &str) {
    let record = fixture.record().await;
    let evidence = &record.rollout.as_ref().unwrap().evidence;
    let counted = evidence.server_errors().test.counts().canary.total().responses;
    assert!(counted <= fixture.responses, "{context}: {counted} counted, {} were sent", fixture.responses);
}

/// How the rollout has ended, as one of two drivers reports it. Where the other one was writing the same object, it tries again.
fn ended_of(report: Result<RolloutReport, Error>) -> Option<RolloutResult> {
    match report {
        Ok(report) => report.ended(),
        Err(error) if error.is_transient() => None,
        Err(error) => panic!("{error}"),
    }
}

/// Observes so often, with responses in between; the last report.
async fn observe(fixture: &mut RolloutFixture, times: usize) -> RolloutReport {
    let cluster = fixture.api.cluster().await;
    let mut driver = fixture.driver(&cluster);
    let mut report = driver.reconcile(fixture.now).await.unwrap();
    for _ in 1..times {
        fixture.pass().await;
        report = driver.reconcile(fixture.now).await.unwrap();
    }
    report
}

#[test]
fn a_check_that_fails_holds_the_rollout_and_names_its_reason() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 2).await;
        fixture.api.state().store.remove("Pod", "shop-v2");
        let report = observe(&mut fixture, 12).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        assert!(report.decision.reason.contains("version `v2` has no pod"), "{}", report.decision.reason);
        assert_eq!(report.record.state.weight.to_string(), "1%", "the weight stays");
    });
}

#[test]
fn an_observation_writes_nothing() {
    run(async {
        let fixture = RolloutFixture::started(Canary::Good).await;
        let before = fixture.record().await;
        let report = fixture.driver(&fixture.cluster).observe(fixture.now).await.unwrap();
        assert_eq!(report.decision.action, RolloutAction::EnterStep(0));
        assert_eq!(fixture.record().await, before);
    });
}

#[test]
fn a_weight_whose_driver_has_ended_ends_by_itself_and_the_next_driver_sets_it_again() {
    run(async {
        let mut fixture = RolloutFixture::started_with(Canary::Good, &json!({"expiresIn": "10m"})).await;
        observe(&mut fixture, 3).await;
        let until = fixture.record().await.state.until.unwrap();
        let end = Timestamp::from_second(i64::try_from(until.at_seconds).unwrap()).unwrap();
        assert!(
            end > fixture.now && end <= fixture.now + SignedDuration::from_mins(10),
            "{end} at {}",
            fixture.now
        );
        fixture.now = end + SignedDuration::from_secs(1);
        let report = observe(&mut fixture, 1).await;
        assert_eq!(report.decision.action, RolloutAction::EnterStep(0), "{:?}", report.decision);
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}
