//! Rollouts of a front end in front of an API: both are releases of a train, and the API follows the gateway's decision. The front end hides
//! what the API does, so its own responses never fail.

use super::{Canary, MANY, MANY_WRITES, RolloutFixture, assert_is_over, ended_of, rollout, stable};
use crate::trains::inner;
use canary_operations::{RolloutDriver, RolloutReport};
use canary_release::alert::RolloutResult;
use canary_release::evidence::ProxyCoverage;
use canary_release::record::Record;
use canary_release::rollout::{Ending, RolloutPhase};
use canary_release::spec::ReleaseName;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{SHOP, apply, pod, release, run};
use serde_json::{Value, json};

/// Of 40 responses of the API's canary in each user group and interval, and of 200 of its stable version, so many fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Failing,
    /// Both versions fail alike, one of 20.
    Alike,
    /// Nobody calls it.
    Uncalled,
}

struct TrainFixture {
    rollout: RolloutFixture,
    api: Api,
    /// What users of the API's canary got, in all proxies.
    responses: u64,
}

fn api_name() -> ReleaseName {
    "shop/api".parse().unwrap()
}

impl TrainFixture {
    async fn started(api: Api) -> Self {
        Self::started_with(api, &json!({})).await
    }

    /// With changes to the `spec` of the API.
    async fn started_with(api: Api, changes: &Value) -> Self {
        let outer = release(&json!({"train": "autumn", "rollout": rollout(&json!({}))}));
        let rollout = RolloutFixture::started_as(Canary::Good, &outer).await;
        for name in ["web-1", "web-2"] {
            rollout.api.state().create(&pod(SHOP, name, &json!({"app": "web"})));
        }
        apply(&rollout.cluster, &inner(&rollout.api, "api", changes)).await.unwrap();
        Self { rollout, api, responses: 0 }
    }

    fn fake(&self) -> FakeApi {
        self.rollout.api.clone()
    }

    async fn api_record(&self) -> Record {
        self.rollout.cluster.get_record(&api_name()).await.unwrap().record
    }

    /// The responses of the API's canary that the record of the front end has.
    async fn counted(&self) -> u64 {
        let record = self.rollout.record().await;
        let inner = record.rollout.as_ref().unwrap().train.get(&api_name());
        inner.map_or(0, |inner| inner.evidence.server_errors().test.counts().canary.total().responses)
    }

    /// An interval passes: users call both services.
    async fn pass(&mut self) {
        let is_served = self.rollout.record().await.state.weight.basis_points() > 0;
        let failed = if self.api == Api::Uncalled { None } else { Some(2) };
        if let Some(failed) = failed {
            let fake = self.fake();
            let mut state = fake.state();
            if is_served {
                state.proxies.respond_inside("shop/api", "v2", 40, failed);
                self.responses += 2 * 16 * 40;
            }
            let of_stable = if self.api == Api::Alike { 10 } else { 0 };
            state.proxies.respond_inside("shop/api", "v1", 200, of_stable);
        }
        self.rollout.pass().await;
    }

    async fn drive_with(&mut self, driver: &mut RolloutDriver<'_>) -> RolloutReport {
        for _ in 0..MANY {
            let report = driver.reconcile(self.rollout.now).await.unwrap();
            if report.ended().is_some() {
                return report;
            }
            self.pass().await;
        }
        panic!("the rollout has not ended: {:?}", self.rollout.record().await.rollout);
    }

    async fn drive(&mut self) -> RolloutReport {
        let cluster = self.rollout.api.cluster().await;
        let mut driver = self.rollout.driver(&cluster);
        self.drive_with(&mut driver).await
    }
}

fn reason(report: &RolloutReport) -> &str {
    &report.record.rollout.as_ref().unwrap().ended.as_ref().unwrap().reason
}

#[test]
fn an_api_whose_canary_fails_ends_the_rollout_of_the_front_end_that_hides_it() {
    run(async {
        let mut fixture = TrainFixture::started(Api::Failing).await;
        let before = fixture.api_record().await;
        let report = fixture.drive().await;
        assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{:?}", report.decision);
        let expected = "shop/api: 5xx: canary 5.00% of 6400 responses, stable 0.00% of 32000";
        assert!(reason(&report).starts_with(expected), "{}", reason(&report));
        assert!(reason(&report).contains("(rollback at 100)"), "{}", reason(&report));
        assert_eq!(stable(&report.record), "v1");
        assert_is_over(&fixture.rollout, "rolled back").await;
        assert_eq!(fixture.api_record().await, before, "nothing is written to the API");
    });
}

#[test]
fn an_api_that_fails_alike_or_is_not_called_lets_the_rollout_go_on() {
    for api in [Api::Alike, Api::Uncalled] {
        run(async {
            let mut fixture = TrainFixture::started(api).await;
            let report = fixture.drive().await;
            assert_eq!(report.ended(), Some(RolloutResult::Promoted), "{api:?}: {:?}", report.decision);
            assert_eq!(fixture.rollout.weights, ["1%", "10%", "50%", "0%"], "{api:?}");
        });
    }
}

#[test]
fn four_hundreds_and_slow_responses_of_the_api_count_as_its_own_file_says() {
    run(async {
        for (kind, setting, told) in [
            ("client_errors", json!({"clientErrors": true}), "shop/api: 4xx: canary 10.00%"),
            ("slow_responses", json!({"slowerThan": "500ms"}), "shop/api: slow: canary 10.00%"),
        ] {
            for (changes, result) in [
                (json!({"rollout": setting}), RolloutResult::RolledBack),
                (json!({}), RolloutResult::Promoted),
            ] {
                let mut fixture = TrainFixture::started_with(Api::Alike, &changes).await;
                let cluster = fixture.rollout.api.cluster().await;
                let mut driver = fixture.rollout.driver(&cluster);
                let mut ended = None;
                for _ in 0..MANY {
                    let report = driver.reconcile(fixture.rollout.now).await.unwrap();
                    if report.ended().is_some() {
                        ended = Some(report);
                        break;
                    }
                    fixture.fake().state().proxies.fail_inside(kind, "shop/api", "v2", 4);
                    fixture.pass().await;
                }
                let report = ended.unwrap();
                assert_eq!(report.ended(), Some(result), "{kind}: {:?}", report.decision);
                if result == RolloutResult::RolledBack {
                    assert!(reason(&report).starts_with(told), "{}", reason(&report));
                }
            }
        }
    });
}

#[test]
fn callers_that_do_not_answer_hold_the_rollout_until_they_do() {
    run(async {
        let mut fixture = TrainFixture::started(Api::Alike).await;
        let cluster = fixture.rollout.api.cluster().await;
        let mut driver = fixture.rollout.driver(&cluster);
        fixture.fake().state().proxies.silence_pods(["web-1".to_owned()]);
        let mut reports = Vec::new();
        for _ in 0..12 {
            reports.push(driver.reconcile(fixture.rollout.now).await.unwrap());
            fixture.pass().await;
        }
        let held = reports.last().unwrap();
        assert_eq!(held.decision.phase, RolloutPhase::Held, "{:?}", held.decision);
        let told = "shop/api: expected counters of at least 80% of 2 proxies, 1 were not observed";
        assert_eq!(held.decision.reason, told);
        assert_eq!(held.record.state.weight.to_string(), "1%");
        fixture.fake().state().proxies.silence_pods([]);
        assert_eq!(fixture.drive_with(&mut driver).await.ended(), Some(RolloutResult::Promoted));
    });
}

/// What a restarted proxy has counted since is not compared with what it had counted before.
#[test]
fn callers_that_start_again_are_no_reason_to_roll_back() {
    run(async {
        let mut fixture = TrainFixture::started(Api::Failing).await;
        let cluster = fixture.rollout.api.cluster().await;
        let mut driver = fixture.rollout.driver(&cluster);
        for _ in 0..10 {
            let report = driver.reconcile(fixture.rollout.now).await.unwrap();
            assert_ne!(report.decision.phase, RolloutPhase::Ending, "{:?}", report.decision);
            fixture.pass().await;
            fixture.fake().state().proxies.restart();
        }
    });
}

/// Its promotion promotes the train, which needs the records.
#[test]
fn what_may_not_be_read_of_the_train_is_said_and_ends_no_rollout() {
    run(async {
        let mut fixture = TrainFixture::started(Api::Failing).await;
        fixture.fake().state().access.deny("list", "configmaps");
        let cluster = fixture.rollout.api.cluster().await;
        let mut driver = fixture.rollout.driver(&cluster);
        for _ in 0..20 {
            driver.reconcile(fixture.rollout.now).await.unwrap();
            fixture.pass().await;
        }
        assert_eq!(fixture.rollout.weights, ["1%", "10%", "50%"]);
        let ending = fixture.rollout.record().await.rollout.unwrap().ending;
        assert!(matches!(ending, Some((Ending::Promote, _))), "{ending:?}");
        let fixture = TrainFixture::started(Api::Failing).await;
        fixture.fake().state().access.deny("list", "configmaps");
        let report =
            fixture.rollout.driver(&fixture.rollout.cluster).observe(fixture.rollout.now).await.unwrap();
        let told = "not allowed to list configmaps in namespace `shop`";
        assert_eq!(report.assessment.train.unread.as_deref(), Some(told));
    });
}

/// The evidence that there is counts on: a record that was deleted takes no user off the API's canary.
#[test]
fn a_release_whose_record_is_gone_is_named_and_its_evidence_stays() {
    run(async {
        let mut fixture = TrainFixture::started(Api::Alike).await;
        let cluster = fixture.rollout.api.cluster().await;
        let mut driver = fixture.rollout.driver(&cluster);
        for _ in 0..4 {
            driver.reconcile(fixture.rollout.now).await.unwrap();
            fixture.pass().await;
        }
        let before = fixture.counted().await;
        fixture.fake().state().store.remove("ConfigMap", "api-canary");
        let report = driver.reconcile(fixture.rollout.now).await.unwrap();
        let [inner] = &report.assessment.train.releases[..] else { panic!("{:?}", report.assessment.train) };
        assert_eq!(inner.to_string(), "shop/api: not observed: expected its record, found none");
        assert!(before > 0);
        assert_eq!(fixture.counted().await, before);
        assert_eq!(fixture.drive_with(&mut driver).await.ended(), Some(RolloutResult::Promoted));
    });
}

/// No response was counted twice.
async fn assert_bounded(fixture: &TrainFixture, context: &str) {
    let counted = fixture.counted().await;
    assert!(counted <= fixture.responses, "{context}: {counted} counted, {} were sent", fixture.responses);
}

#[test]
fn killed_after_any_write_the_next_driver_ends_it_for_the_api_too() {
    run(async {
        let mut cases = 0;
        for writes in 0..MANY_WRITES {
            let mut fixture = TrainFixture::started(Api::Failing).await;
            let api = fixture.fake();
            let killed = api.killed_after(writes, async |process| {
                let mut driver = fixture.rollout.driver(process);
                for _ in 0..MANY {
                    // The write of an Event may have killed the process, beside this one.
                    let Ok(report) = driver.reconcile(fixture.rollout.now).await else {
                        return std::future::pending().await;
                    };
                    if report.ended().is_some() {
                        break;
                    }
                    fixture.pass().await;
                }
            });
            if killed.await.is_some() {
                break;
            }
            let context = format!("killed after {writes} writes");
            let report = fixture.drive().await;
            assert_eq!(report.ended(), Some(RolloutResult::RolledBack), "{context}: {:?}", report.decision);
            assert!(reason(&report).starts_with("shop/api: 5xx"), "{context}: {}", reason(&report));
            assert_is_over(&fixture.rollout, &context).await;
            assert_bounded(&fixture, &context).await;
            cases += 1;
        }
        assert!((8..MANY_WRITES).contains(&cases), "killed {cases} times");
    });
}

#[test]
fn two_drivers_count_no_response_of_the_api_twice() {
    for (api, expected) in [(Api::Failing, RolloutResult::RolledBack), (Api::Alike, RolloutResult::Promoted)]
    {
        run(async {
            let mut fixture = TrainFixture::started(api).await;
            let clusters = [fixture.rollout.api.cluster().await, fixture.rollout.api.cluster().await];
            let mut drivers = clusters.each_ref().map(|cluster| fixture.rollout.driver(cluster));
            let mut ended = None;
            for _ in 0..MANY {
                let now = fixture.rollout.now;
                let [first, second] = &mut drivers;
                let (first, second) = tokio::join!(first.reconcile(now), second.reconcile(now));
                ended = ended_of(first).or(ended_of(second));
                if ended.is_some() {
                    break;
                }
                fixture.pass().await;
            }
            assert_eq!(ended, Some(expected), "{api:?}");
            assert_bounded(&fixture, &format!("{api:?}")).await;
        });
    }
}

/// Requests and bytes of an observation, after the first ones of a driver.
async fn cost(fixture: &mut TrainFixture) -> (RolloutReport, usize, usize) {
    let cluster = fixture.rollout.api.cluster().await;
    let mut driver = fixture.rollout.driver(&cluster);
    for _ in 0..3 {
        driver.reconcile(fixture.rollout.now).await.unwrap();
        fixture.pass().await;
    }
    fixture.fake().count_requests();
    fixture.fake().count_bytes();
    let report = driver.reconcile(fixture.rollout.now).await.unwrap();
    (report, fixture.fake().count_requests(), fixture.fake().count_bytes())
}

/// All records of a train are one request, and each release asks each proxy that calls it once.
#[test]
fn an_observation_of_a_train_costs_a_request_for_each_release_and_proxy_and_one_for_the_records() {
    run(async {
        let outer = release(&json!({"train": "autumn", "rollout": rollout(&json!({}))}));
        let alone = RolloutFixture::started_as(Canary::Good, &outer).await;
        let (_, alone, bytes_alone) =
            cost(&mut TrainFixture { rollout: alone, api: Api::Uncalled, responses: 0 }).await;
        let mut fixture = TrainFixture::started(Api::Alike).await;
        for number in 3..=20 {
            fixture.fake().state().create(&pod(SHOP, &format!("web-{number}"), &json!({"app": "web"})));
        }
        let (report, one, bytes_one) = cost(&mut fixture).await;
        let twenty = ProxyCoverage { observed: 20, of: 20 };
        assert_eq!(report.assessment.train.releases[0].proxies, Some(twenty));
        for name in ["search", "prices"] {
            let release = inner(&fixture.fake(), name, &json!({}));
            apply(&fixture.rollout.cluster, &release).await.unwrap();
        }
        let (_, three, bytes_three) = cost(&mut fixture).await;
        println!(
            "{alone} requests and {bytes_alone} bytes without other releases; {one} and {bytes_one} with one that 20 proxies call, {three} and \
             {bytes_three} with three"
        );
        assert!(one - alone <= 20 + 2, "{one} requests, {alone} alone");
        assert!(three - one <= 2 * (20 + 1), "{three} requests, {one} with one release");
    });
}

/// Another version of the API, which is its canary from now on.
async fn replace_canary(fixture: &TrainFixture) {
    let labels = json!({"app": "api", "version": "v3"});
    fixture.fake().state().create(&pod(SHOP, "api-v3", &labels));
    let mut next = inner(&fixture.fake(), "api", &json!({"versions": {"stable": "v1", "canary": "v3"}}));
    next.name = api_name();
    apply(&fixture.rollout.cluster, &next).await.unwrap();
}

#[test]
fn what_was_counted_of_another_canary_of_the_api_is_not_compared_with_its_present_one() {
    run(async {
        let mut fixture = TrainFixture::started(Api::Alike).await;
        let cluster = fixture.rollout.api.cluster().await;
        let mut driver = fixture.rollout.driver(&cluster);
        for _ in 0..3 {
            driver.reconcile(fixture.rollout.now).await.unwrap();
            fixture.pass().await;
        }
        assert!(fixture.counted().await > 0);
        replace_canary(&fixture).await;
        // More than the one before: the counters seem to rise.
        fixture.fake().state().proxies.respond_inside("shop/api", "v3", 4_000, 4_000);
        let mut counted = Vec::new();
        for _ in 0..2 {
            driver.reconcile(fixture.rollout.now).await.unwrap();
            counted.push(fixture.counted().await);
            fixture.fake().state().proxies.respond_inside("shop/api", "v3", 10, 0);
            fixture.rollout.pass().await;
        }
        assert_eq!(counted, [0, 2 * 16 * 10], "from the second observation on");
    });
}
