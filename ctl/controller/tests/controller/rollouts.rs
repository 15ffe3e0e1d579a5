//! From an object to a promotion, or back, without a hand.

use crate::object::Fixture;
use assignment::contract::Role;
use canary_controller::Phase;
use fake_api_server::fixture::run;
use serde_json::{Value, json};

fn stable(record: &canary_release::record::Record) -> &str {
    record.state.version_of(Role::Stable).unwrap()
}

#[test]
fn a_good_canary_goes_from_the_object_to_the_promotion_and_the_next_version_follows() {
    run(async {
        let mut fixture = Fixture::new(&json!({}));
        fixture.reconcile_until("Promoted", "True").await;
        assert_eq!(fixture.weights, ["1%", "10%", "50%", "0%"]);
        assert_eq!(stable(&fixture.record().await), "v2");
        assert_eq!(fixture.status().phase, Phase::Promoted);
        assert_eq!(fixture.condition("Ready").unwrap().0, "True", "{:#?}", fixture.status());

        let reconciled = fixture.reconcile_once().await;
        assert_eq!(reconciled.status.phase, Phase::Promoted, "the object of before takes nothing back");
        assert_eq!(stable(&fixture.record().await), "v2");

        fixture.edit(|object| object["spec"]["versions"] = json!({"stable": "v2", "canary": "v3"}));
        fixture.reconcile_once().await;
        let record = fixture.record().await;
        assert_eq!(record.state.version_of(Role::Canary), Some("v3"));
        assert_eq!(record.rollout.unwrap().canary, "v3", "its rollout has begun");
    });
}

#[test]
fn a_bad_canary_is_rolled_back_stalls_and_is_not_tried_again() {
    run(async {
        let mut fixture = Fixture::new(&json!({}));
        fixture.failed = 2;
        fixture.reconcile_until("Stalled", "True").await;
        let status = fixture.status();
        assert_eq!(
            (status.phase, fixture.condition("Promoted").unwrap().0.as_str()),
            (Phase::RolledBack, "False")
        );
        let message =
            &status.conditions.iter().find(|condition| condition.kind == "Stalled").unwrap().message;
        assert!(message.contains("5xx: canary 5.00%"), "{message}");
        for _ in 0..3 {
            fixture.reconcile_once().await;
        }
        let record = fixture.record().await;
        assert_eq!((stable(&record), record.state.version_of(Role::Canary)), ("v1", None));
    });
}

#[test]
fn the_first_write_says_that_the_generation_is_being_carried_out() {
    run(async {
        let fixture = Fixture::new(&json!({}));
        let first = std::sync::Arc::new(std::sync::Mutex::new(None));
        let seen = std::sync::Arc::clone(&first);
        fixture.api.before_write(move |state, line| {
            let object = state.store.find("Release", "shop").unwrap().clone();
            if line.contains("/releases/") || object.get("status").is_none() {
                return;
            }
            seen.lock().unwrap().get_or_insert(object["status"].clone());
        });
        fixture.reconcile_once().await;
        let status: Value = first.lock().unwrap().clone().unwrap();
        assert_eq!(status["observedGeneration"], 1);
        let condition = |kind: &str| {
            let all = status["conditions"].as_array().unwrap().iter();
            all.clone().find(|condition| condition["type"] == kind).unwrap().clone()
        };
        assert_eq!(condition("Reconciling")["status"], "True", "{status}");
        assert_eq!(condition("Ready")["status"], "False", "{status}");
    });
}

#[test]
fn a_release_without_a_rollout_is_ready_with_its_canary_and_writes_nothing_more() {
    run(async {
        let fixture = Fixture::new(&json!({"rollout": null}));
        fixture.reconcile_once().await;
        let reconciled = fixture.reconcile_once().await;
        assert_eq!(reconciled.status.phase, Phase::Canary, "{reconciled:#?}");
        assert_eq!(fixture.condition("Ready").unwrap().0, "True", "{reconciled:#?}");
        assert!(fixture.record().await.rollout.is_none());
        let writes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let seen = std::sync::Arc::clone(&writes);
        fixture.api.before_write(move |_, line| seen.lock().unwrap().push(line.to_owned()));
        fixture.reconcile_once().await;
        assert_eq!(*writes.lock().unwrap(), Vec::<String>::new(), "nothing differs");
    });
}

#[test]
fn what_another_client_has_changed_is_repaired() {
    run(async {
        let fixture = Fixture::new(&json!({"rollout": null}));
        let cluster = fixture.api.cluster().await;
        let reconciler = fixture.reconciler(&cluster, "replica");
        fixture.reconcile(&reconciler).await;
        let before = fixture.api.state().store.of_kind("DestinationRule").next().unwrap().clone();
        let name = before["metadata"]["name"].as_str().unwrap().to_owned();
        fixture.api.state().remove("DestinationRule", &name);
        let owners = reconciler.affected(&before);
        assert_eq!(owners, ["shop/shop".parse().unwrap()], "the event names the release");
        fixture.reconcile(&reconciler).await;
        assert!(fixture.api.state().store.find("DestinationRule", &name).is_some(), "it is there again");
    });
}

#[test]
fn an_invalid_object_stalls_with_every_fault_and_what_runs_goes_on() {
    run(async {
        let fixture = Fixture::new(&json!({"rollout": null}));
        fixture.reconcile_once().await;
        let before = fixture.record().await;
        fixture.edit(|object| {
            object["spec"]["hosts"] = json!([]);
            object["spec"]["stickyness"] = json!("session");
        });
        fixture.reconcile_once().await;
        let status = fixture.status();
        let stalled = status.conditions.iter().find(|condition| condition.kind == "Stalled").unwrap().clone();
        assert_eq!((stalled.status.as_str(), stalled.reason.as_str()), ("True", "Invalid"));
        assert!(stalled.message.contains("expected at least one host"), "{}", stalled.message);
        assert_eq!(stalled.observed_generation, 2);
        assert_eq!(fixture.record().await, before);
    });
}
