//! Which intervals are evidence: those between two observations of one deployed state.

use super::{Canary, RolloutFixture};
use canary_operations::{RolloutDriver, RolloutReport};
use canary_release::rollout::RolloutAction;
use fake_api_server::fixture::run;
use serde_json::{Value, json};

/// Nothing but evidence changes in its first half hour.
async fn in_a_long_step() -> RolloutFixture {
    let plans = json!({"default": [{"weight": 10, "hold": "30m"}]});
    RolloutFixture::started_with(Canary::Good, &json!({"plans": plans})).await
}

/// The object that has the weight.
fn config(fixture: &RolloutFixture) -> Value {
    let state = fixture.api.state();
    let name = |object: &&Value| object["metadata"]["name"].as_str().unwrap().contains("gateway-config");
    state.store.of_kind("EnvoyFilter").find(name).expect("there is one").clone()
}

/// Reconciles, and an interval passes; the report, and the number of intervals in the record.
async fn reconcile(fixture: &mut RolloutFixture, driver: &mut RolloutDriver<'_>) -> (RolloutReport, u64) {
    let report = driver.reconcile(fixture.now).await.unwrap();
    let intervals = fixture.record().await.rollout.unwrap().evidence.intervals;
    fixture.pass().await;
    (report, intervals)
}

#[test]
fn no_interval_in_which_the_objects_had_another_state_is_evidence() {
    run(async {
        let mut fixture = in_a_long_step().await;
        let at_zero = config(&fixture);
        let cluster = fixture.api.cluster().await;
        let mut driver = fixture.driver(&cluster);
        let mut counted = Vec::new();
        for _ in 0..3 {
            counted.push(reconcile(&mut fixture, &mut driver).await.1);
        }
        assert_eq!(counted, [0, 0, 1], "from the first observation after the step on");

        let name = at_zero["metadata"]["name"].as_str().unwrap();
        fixture
            .api
            .state()
            .store
            .edit_as_owner("EnvoyFilter", name, |object| object["spec"] = at_zero["spec"].clone());
        let (report, intervals) = reconcile(&mut fixture, &mut driver).await;
        assert_eq!((report.decision.action, intervals), (RolloutAction::Deploy, 1));
        assert_eq!(
            reconcile(&mut fixture, &mut driver).await.1,
            1,
            "it begins before the weight was deployed"
        );
        assert_eq!(reconcile(&mut fixture, &mut driver).await.1, 2);
    });
}

#[test]
fn no_interval_in_which_another_client_was_first_is_evidence() {
    run(async {
        let mut fixture = in_a_long_step().await;
        let cluster = fixture.api.cluster().await;
        let mut driver = fixture.driver(&cluster);
        for _ in 0..3 {
            reconcile(&mut fixture, &mut driver).await;
        }
        let mut is_first = true;
        fixture.api.before_write(move |state, line| {
            if line.contains("/configmaps/shop-canary") && std::mem::take(&mut is_first) {
                let note = |record: &mut Value| record["metadata"]["annotations"]["note"] = json!("mine");
                state.store.edit_as_owner("ConfigMap", "shop-canary", note);
            }
        });
        let (report, intervals) = reconcile(&mut fixture, &mut driver).await;
        assert_eq!(report.decision.reason, "another client has changed the release meanwhile");
        assert_eq!(intervals, 1);
        assert_eq!(reconcile(&mut fixture, &mut driver).await.1, 1);
        assert_eq!(reconcile(&mut fixture, &mut driver).await.1, 2);
    });
}
