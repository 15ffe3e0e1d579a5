//! Proxies that do not answer: some of them for a while.

use super::{Canary, INTERVAL, RolloutFixture, assert_evidence_is_bounded, assert_is_over, gateway};
use canary_operations::RolloutReport;
use canary_release::alert::RolloutResult;
use canary_release::rollout::{Ending, RolloutAction, RolloutPhase};
use fake_api_server::fixture::run;

/// The pods of so many of ten gateways.
fn of_ten(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(|number| gateway(number + 1))
}

async fn with_ten_gateways(canary: Canary) -> RolloutFixture {
    let fixture = RolloutFixture::started(canary).await;
    fixture.add_gateways(10);
    fixture
}

/// Reports of one driver while time passes, from its first full interval on.
async fn reports(fixture: &mut RolloutFixture, count: usize) -> Vec<RolloutReport> {
    let cluster = fixture.api.cluster().await;
    let mut driver = fixture.driver(&cluster);
    let mut reports = Vec::new();
    for _ in 0..count {
        reports.push(driver.reconcile(fixture.now).await.unwrap());
        fixture.pass().await;
    }
    reports
}

#[test]
fn a_fifth_of_the_proxies_may_be_silent_and_the_rollout_goes_on() {
    run(async {
        for (canary, result) in
            [(Canary::Good, RolloutResult::Promoted), (Canary::Failing, RolloutResult::RolledBack)]
        {
            let mut fixture = with_ten_gateways(canary).await;
            fixture.api.state().proxies.silence_pods(of_ten(2));
            for report in reports(&mut fixture, 4).await.split_off(3) {
                assert_eq!((report.proxies.observed, report.proxies.of), (8, 10), "{canary:?}");
                assert_ne!(report.decision.phase, RolloutPhase::Held, "{canary:?}: {:?}", report.decision);
            }
            fixture.api.state().proxies.silence_pods([]);
            assert_eq!(fixture.drive().await.ended(), Some(result), "{canary:?}");
            assert_is_over(&fixture, &format!("{canary:?}")).await;
        }
    });
}

#[test]
fn more_silent_proxies_hold_it_until_they_answer_and_what_they_counted_meanwhile_is_left_out() {
    run(async {
        let mut fixture = with_ten_gateways(Canary::Good).await;
        reports(&mut fixture, 3).await;
        fixture.api.state().proxies.silence_pods(of_ten(3));
        let held = reports(&mut fixture, 12).await.split_off(1);
        for report in &held {
            assert_eq!(report.decision.phase, RolloutPhase::Held, "{:?}", report.decision);
            assert_eq!(report.record.state.weight.to_string(), "1%");
        }
        assert!(INTERVAL * 11 > jiff::SignedDuration::from_mins(2), "longer than the step");
        let reason = &held.last().unwrap().decision.reason;
        assert!(reason.contains("3 were not observed"), "{reason}");
        fixture.api.state().proxies.silence_pods([]);
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
        assert_eq!(fixture.weights, ["1%", "10%", "50%", "0%"]);
        assert_evidence_is_bounded(&fixture, "silent for a while").await;
    });
}

/// What was observed is of both versions, so it is valid whatever else there is.
#[test]
fn failures_in_one_proxy_that_answers_roll_the_canary_back_while_nine_are_silent() {
    run(async {
        let mut fixture = with_ten_gateways(Canary::Failing).await;
        reports(&mut fixture, 1).await;
        fixture.api.state().proxies.silence_pods(of_ten(9));
        let reports = reports(&mut fixture, 5).await;
        let is_decided =
            |report: &&RolloutReport| report.decision.action == RolloutAction::Decide(Ending::Rollback);
        let decided = reports.iter().find(is_decided).expect("four intervals are enough");
        assert_eq!((decided.proxies.observed, decided.proxies.of), (1, 10));
    });
}
