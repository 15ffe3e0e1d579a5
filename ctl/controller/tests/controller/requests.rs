//! What people ask for in the status of an object.

use crate::object::Fixture;
use assignment::contract::Role;
use canary_controller::Phase;
use fake_api_server::fixture::{options, run};
use serde_json::{Value, json};

fn answer(fixture: &Fixture) -> Value {
    fixture.object()["status"]["lastRequest"].clone()
}

/// Everything that can be asked for while a rollout goes on, and what the release does afterwards.
#[test]
fn each_request_is_taken_once_and_answered() {
    run(async {
        for (request, phase) in [
            (json!({"action": "pause", "by": "ada", "id": "7"}), Phase::Paused),
            (json!({"action": "abort"}), Phase::RolledBack),
            (json!({"action": "rollback"}), Phase::RolledBack),
            (json!({"action": "promote"}), Phase::Promoted),
            (json!({"action": "retry"}), Phase::Progressing),
            (json!({"action": "weight", "weight": 12.5}), Phase::Paused),
        ] {
            let mut fixture = Fixture::new(&json!({}));
            let cluster = fixture.api.cluster_with(options()).await;
            let reconciler = fixture.reconciler(&cluster, "replica");
            for _ in 0..4 {
                let again = fixture.reconcile(&reconciler).await.again;
                fixture.pass(again).await;
            }
            fixture.ask(&request);
            for _ in 0..6 {
                let again = fixture.reconcile(&reconciler).await.again;
                fixture.pass(again).await;
            }
            let status = fixture.status();
            assert_eq!(status.phase, phase, "{request}: {status:#?}");
            let (object, answer) = (fixture.object(), answer(&fixture));
            assert_eq!(object["status"].get("request"), None, "{request}");
            assert_eq!(answer["result"], "Done", "{request}: {answer}");
            assert_eq!(
                (&answer["action"], &answer["by"], &answer["id"]),
                (&request["action"], &request["by"], &request["id"])
            );
        }
    });
}

#[test]
fn what_is_not_possible_is_refused_with_the_reason() {
    run(async {
        let fixture = Fixture::new(&json!({}));
        fixture.reconcile_once().await;
        for (request, message) in [
            (json!({"action": "approve"}), "expected a step with `gate: manual`"),
            (json!({"action": "weight"}), "expected `weight`"),
            (json!({"action": "weight", "weight": 120}), "120"),
            (json!({"action": "launch"}), "launch"),
        ] {
            fixture.ask(&request);
            fixture.reconcile_once().await;
            let answer = answer(&fixture);
            assert_eq!(answer["result"], "Refused", "{request}: {answer}");
            assert!(answer["message"].as_str().unwrap().contains(message), "{request}: {answer}");
            assert_eq!(fixture.object()["status"].get("request"), None, "{request}");
        }
    });
}

#[test]
fn a_version_that_was_rolled_back_is_tried_again_on_request() {
    run(async {
        let mut fixture = Fixture::new(&json!({}));
        fixture.failed = 2;
        fixture.reconcile_until("Stalled", "True").await;
        fixture.failed = 0;
        fixture.ask(&json!({"action": "retry"}));
        fixture.reconcile_once().await;
        let record = fixture.record().await;
        assert_eq!(record.state.version_of(Role::Canary), Some("v2"), "{}", answer(&fixture));
        fixture.reconcile_until("Promoted", "True").await;
    });
}

/// The faults for which an object is not carried out.
fn faulty(fixture: &mut Fixture, fault: &str) {
    match fault {
        "spec" => fixture.edit(|object| object["spec"]["hosts"] = json!([])),
        "grant" => fixture.grants.clear(),
        _ => {
            fixture.api.state().create(&json!({"apiVersion": "v1", "kind": "Secret", "data": {},
                "metadata": {"name": "chat", "namespace": "shop", "labels": {}}}));
            let url = json!({"secret": {"name": "chat", "key": "url"}});
            fixture.edit(|object| {
                object["spec"]["rollout"]["alerts"] =
                    json!([{"name": "a", "type": "webhook", "urlFrom": url}]);
            });
        }
    }
}

/// An action that takes effect at once is done. One that a driver would have to do is refused with the reason, and neither the record nor the answer changes
/// afterwards.
#[test]
fn of_an_object_that_is_not_carried_out_a_request_is_done_at_once_or_refused_with_the_reason_once() {
    run(async {
        let faults = [
            ("spec", json!({}), "at least one host"),
            ("spec", json!({"rollout": null}), "at least one host"),
            ("grant", json!({}), "expected a ReleaseGrant"),
            ("grant", json!({"rollout": null}), "expected a ReleaseGrant"),
            ("secret", json!({}), "expected label `canary-ctl.io/for-releases: true` at Secret `chat`"),
        ];
        let actions = ["pause", "rollback", "weight", "resume", "approve", "promote", "retry", "abort"];
        let cases = faults.iter().flat_map(|fault| actions.iter().map(move |action| (fault, *action)));
        for ((fault, changes, message), action) in cases {
            let mut fixture = Fixture::new(changes);
            fixture.reconcile_once().await;
            faulty(&mut fixture, fault);
            fixture.reconcile_once().await;
            let before = fixture.record().await;
            fixture.ask(&json!({"action": action, "weight": 12.5}));
            fixture.reconcile_once().await;
            let is_done = ["pause", "rollback", "weight"].contains(&action);
            let found = answer(&fixture);
            let case = format!("{fault}: {changes}: {action}: {found}");
            assert_eq!(found["result"], if is_done { "Done" } else { "Refused" }, "{case}");
            assert_eq!(fixture.record().await != before, is_done, "{case}");
            if !is_done {
                assert!(found["message"].as_str().unwrap().contains(message), "{case}");
            }
            fixture.reconcile_once().await;
            assert_eq!(answer(&fixture), found, "{case}");
        }
    });
}
