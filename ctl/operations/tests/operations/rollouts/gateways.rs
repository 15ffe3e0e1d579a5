//! Gateways that come, start again, or do not answer.

use super::{Canary, RolloutFixture, observe};
use canary_release::rollout::RolloutPhase;
use fake_api_server::fixture::{INGRESS, pod, run};
use serde_json::json;

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
