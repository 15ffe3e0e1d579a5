//! Rollouts from the start to their end: good and bad canaries, drivers that are killed after any write, two drivers, and people
//! who interfere. Time is an argument, so a rollout of an hour takes a moment.

mod alerts;
mod cost;
mod receiver;
mod silence;

use crate::fake_api::FakeApi;
use crate::fixture::{INGRESS, apply, pod, promote, release, roll_back, run, set_weight, shop};
use canary_operations::{Cluster, Error, RolloutDriver, RolloutReport};
use canary_release::evidence::FailureKind;
use canary_release::record::Record;
use canary_release::rollout::{RolloutAction, RolloutPhase, RolloutResult, RolloutVerb};
use canary_release::spec::Release;
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

/// `spec.rollout`: three steps of two minutes; with changes to it.
fn rollout(changes: &Value) -> Value {
    let step = |weight: u32| json!({"weight": weight, "hold": "2m"});
    let mut rollout = json!({"plans": {"default": [step(1), step(10), step(50)]}});
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
    release: Release,
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
        Self::started_as(canary, &release(&json!({"rollout": rollout(changes)}))).await
    }

    async fn started_as(canary: Canary, release: &Release) -> Self {
        let (api, release) = (shop(), release.clone());
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let mut fixture =
            Self { api, cluster, release, now: Timestamp::now(), canary, responses: 0, weights: Vec::new() };
        fixture.start().await.unwrap();
        fixture
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
        assert!(reason.starts_with("5xx: canary 5.00% of 640 responses, stable 0.00% of 3200"), "{reason}");
        assert_eq!(stable(&report.record), "v1");
        assert_eq!(fixture.weights, ["1%", "0%"], "one interval was enough");
        assert_is_over(&fixture, "rolled back").await;
    });
}

/// Drives a rollout in a process that is killed after so many writes, and then in another one. `None` if it was not killed.
async fn killed_and_continued(canary: Canary, writes: u32) -> Option<RolloutFixture> {
    let mut fixture = RolloutFixture::started(canary).await;
    let api = fixture.api.clone();
    let killed = api.killed_after(writes, async |process| {
        let mut driver = fixture.driver(process);
        for _ in 0..MANY {
            // The write of an Event may have killed the process, beside this one.
            let Ok(report) = driver.reconcile(fixture.now).await else { return std::future::pending().await };
            if report.ended().is_some() {
                break;
            }
            fixture.pass().await;
        }
    });
    if killed.await.is_some() {
        return None;
    }
    let report = fixture.drive().await;
    let expected = if canary == Canary::Good { RolloutResult::Promoted } else { RolloutResult::RolledBack };
    assert_eq!(report.ended(), Some(expected), "killed after {writes} writes: {:?}", report.decision);
    Some(fixture)
}

#[test]
fn killed_after_any_write_the_next_driver_reaches_the_same_end() {
    for canary in [Canary::Good, Canary::Failing] {
        run(async {
            let mut cases = 0;
            for writes in 0..MANY_WRITES {
                let Some(fixture) = killed_and_continued(canary, writes).await else { break };
                let context = format!("{canary:?}, killed after {writes} writes");
                assert_is_over(&fixture, &context).await;
                let mut raised = fixture.weights.clone();
                raised.retain(|weight| weight != "0%");
                let expected = if canary == Canary::Good { &["1%", "10%", "50%"][..] } else { &["1%"][..] };
                assert_eq!(raised, expected, "{context}: no step twice, and none is skipped");
                assert_evidence_is_bounded(&fixture, &context).await;
                cases += 1;
            }
            assert!((8..MANY_WRITES).contains(&cases), "{canary:?}: killed {cases} times");
        });
    }
}

/// No response was counted twice.
async fn assert_evidence_is_bounded(fixture: &RolloutFixture, context: &str) {
    let record = fixture.record().await;
    let evidence = &record.rollout.as_ref().unwrap().evidence;
    let counted = evidence.of(FailureKind::ServerErrors).test.counts().canary.total().responses;
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

#[test]
fn two_drivers_take_each_step_once_and_count_no_response_twice() {
    for canary in [Canary::Good, Canary::Failing] {
        run(async {
            let mut fixture = RolloutFixture::started(canary).await;
            let clusters = [fixture.api.cluster().await, fixture.api.cluster().await];
            let mut drivers = clusters.each_ref().map(|cluster| fixture.driver(cluster));
            let mut ended = None;
            for _ in 0..MANY {
                let now = fixture.now;
                let [first, second] = &mut drivers;
                let (first, second) = tokio::join!(first.reconcile(now), second.reconcile(now));
                ended = ended_of(first).or(ended_of(second));
                if ended.is_some() {
                    break;
                }
                fixture.pass().await;
            }
            let expected =
                if canary == Canary::Good { RolloutResult::Promoted } else { RolloutResult::RolledBack };
            assert_eq!(ended, Some(expected), "{canary:?}");
            let weights = if canary == Canary::Good { &["1%", "10%", "50%"][..] } else { &["1%"][..] };
            fixture.weights.retain(|weight| weight != "0%");
            assert_eq!(fixture.weights, weights, "{canary:?}");
            assert_is_over(&fixture, &format!("{canary:?}")).await;
            assert_evidence_is_bounded(&fixture, &format!("{canary:?}")).await;
        });
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
fn a_weight_set_by_hand_suspends_the_rollout_until_it_is_resumed() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 3).await;
        set_weight(&fixture.cluster, &fixture.release, "5").await.unwrap();
        let report = observe(&mut fixture, 20).await;
        assert_eq!(report.decision.phase, RolloutPhase::Suspended, "{:?}", report.decision);
        assert_eq!(report.record.state.weight.to_string(), "5%");
        fixture.ask(RolloutVerb::Resume).await.unwrap();
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}

#[test]
fn a_promotion_and_a_rollback_by_hand_end_the_rollout() {
    run(async {
        let mut promoted = RolloutFixture::started(Canary::Good).await;
        observe(&mut promoted, 3).await;
        promote(&promoted.cluster, &promoted.release).await.unwrap();
        assert_eq!(promoted.drive().await.ended(), Some(RolloutResult::Promoted));
        assert_is_over(&promoted, "promoted").await;
        let mut rolled_back = RolloutFixture::started(Canary::Good).await;
        observe(&mut rolled_back, 3).await;
        roll_back(&rolled_back.cluster, &rolled_back.release).await.unwrap();
        assert_eq!(rolled_back.drive().await.ended(), Some(RolloutResult::RolledBack));
        assert_is_over(&rolled_back, "rolled back").await;
    });
}

#[test]
fn what_people_ask_for_is_in_the_record_and_any_driver_carries_it_out() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 3).await;
        assert!(matches!(fixture.ask(RolloutVerb::Approve).await, Err(Error::Rollout(_))), "no gate");
        assert!(matches!(fixture.start().await, Err(Error::Rollout(_))), "one goes on");
        fixture.ask(RolloutVerb::Pause).await.unwrap();
        let paused = observe(&mut fixture, 20).await;
        assert_eq!((paused.decision.phase, fixture.weights.len()), (RolloutPhase::Suspended, 1));
        fixture.ask(RolloutVerb::Abort).await.unwrap();
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::RolledBack));
        assert!(matches!(fixture.ask(RolloutVerb::Resume).await, Err(Error::Rollout(_))), "it has ended");
        let mut early = RolloutFixture::started(Canary::Good).await;
        observe(&mut early, 2).await;
        early.ask(RolloutVerb::Promote).await.unwrap();
        assert_eq!(early.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}

#[test]
fn a_check_that_fails_holds_the_rollout_and_names_its_reason() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 2).await;
        fixture.api.state().store.remove("Pod", "shop-v2");
        let report = observe(&mut fixture, 12).await;
        assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
        assert!(report.decision.reason.contains("no ready pod"), "{}", report.decision.reason);
        assert_eq!(report.record.state.weight.to_string(), "1%", "the weight stays");
    });
}

#[test]
fn proxies_that_do_not_answer_or_start_again_take_the_rollout_no_step_on() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Failing).await;
        observe(&mut fixture, 2).await;
        fixture.api.state().proxies.silence();
        let silent = observe(&mut fixture, 20).await;
        assert_eq!(
            (silent.decision.phase, silent.proxies.observed),
            (RolloutPhase::Held, 0),
            "{:?}",
            silent.decision
        );
        assert_eq!(silent.record.state.weight.to_string(), "1%");
        let mut restarted = RolloutFixture::started(Canary::Failing).await;
        observe(&mut restarted, 2).await;
        let cluster = restarted.api.cluster().await;
        let mut driver = restarted.driver(&cluster);
        for _ in 0..10 {
            let report = driver.reconcile(restarted.now).await.unwrap();
            assert_ne!(report.decision.phase, RolloutPhase::Ending, "{:?}", report.decision);
            restarted.pass().await;
            restarted.api.state().proxies.restart();
        }
    });
}

#[test]
fn a_gateway_that_is_added_meanwhile_takes_part_from_its_second_observation_on() {
    run(async {
        let mut fixture = RolloutFixture::started(Canary::Good).await;
        observe(&mut fixture, 3).await;
        fixture.api.state().create(&pod(INGRESS, "gateway-2", &json!({"istio": "gateway"})));
        let cluster = fixture.api.cluster().await;
        let mut driver = fixture.driver(&cluster);
        driver.reconcile(fixture.now).await.unwrap();
        fixture.pass().await;
        let report = driver.reconcile(fixture.now).await.unwrap();
        assert_eq!((report.proxies.observed, report.proxies.of), (2, 2), "{:?}", report.decision);
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

#[test]
fn a_rollout_that_only_observes_leaves_no_proxy_counting_when_it_is_aborted() {
    run(async {
        let mut fixture = RolloutFixture::started_with(Canary::Good, &json!({"observe": true})).await;
        observe(&mut fixture, 3).await;
        fixture.ask(RolloutVerb::Abort).await.unwrap();
        assert_is_over(&fixture, "aborted, without a driver").await;
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Observed));
    });
}
