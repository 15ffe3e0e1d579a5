//! Replicas that are killed at any write, and two at once.

use crate::object::{Fixture, MANY, NoClients};
use assignment::contract::Role;
use canary_controller::Reconciler;
use fake_api_server::fixture::run;
use serde_json::json;

#[test]
fn killed_after_any_write_the_next_replica_reaches_the_same_end() {
    for (failed, stable) in [(0, "v2"), (2, "v1")] {
        run(async {
            let mut writes = 1;
            loop {
                let mut fixture = Fixture::new(&json!({}));
                fixture.failed = failed;
                let (object, grants, now) = (fixture.object(), fixture.grants.clone(), fixture.now);
                let client = fixture.api.client();
                // The object's status is written by another client, so that kills count the writes of the release.
                let done = fixture
                    .api
                    .killed_after(writes, async |cluster| {
                        let reconciler = Reconciler::new(
                            cluster,
                            client,
                            NoClients,
                            ("first".to_owned(), crate::object::INTERVAL),
                        );
                        reconciler.reconcile(&object, &grants, now).await.unwrap();
                    })
                    .await;
                let (kind, status) = if failed == 0 { ("Promoted", "True") } else { ("Stalled", "True") };
                fixture.reconcile_until(kind, status).await;
                let record = fixture.record().await;
                assert_eq!(
                    record.state.version_of(Role::Stable),
                    Some(stable),
                    "killed after {writes} writes"
                );
                if done.is_some() {
                    break;
                }
                writes += 1;
            }
            assert!(writes > 5, "killed {writes} times");
        });
    }
}

#[test]
fn two_replicas_at_once_take_each_step_once() {
    run(async {
        let mut fixture = Fixture::new(&json!({}));
        let clusters = [fixture.api.cluster().await, fixture.api.cluster().await];
        let replicas = clusters.each_ref().map(|cluster| fixture.reconciler(cluster, "replica"));
        for _ in 0..MANY {
            let [first, second] = &replicas;
            let (again, _) = tokio::join!(fixture.reconcile(first), fixture.reconcile(second));
            if fixture.condition("Promoted").is_some_and(|(status, _)| status == "True") {
                break;
            }
            fixture.pass(again.again).await;
        }
        assert_eq!(fixture.weights, ["1%", "10%", "50%", "0%"], "{:#?}", fixture.status());
    });
}
