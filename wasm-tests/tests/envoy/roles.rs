//! Versions change roles, are removed and return: live sessions stay, and pins of an earlier epoch are not valid.

use browser::load::{LoadProfile, Report};
use serde_json::Value;
use wasm_tests::scenario::{Crowd, DisruptionCheck, Document};

use crate::support::{SHOP, all_find_their_tea, home, in_every_world, on, session, shoppers, version};

#[tokio::test]
async fn no_session_moves_while_the_roles_are_swapped_and_back_under_load() {
    in_every_world(Document::session("shop").with("/spec/weight", "50"), |mut fixture| async move {
        let disruption = DisruptionCheck::start(fixture.admin()).await.expect("statistics");
        let mut shoppers = shoppers(&fixture, 60).await;
        let on_canary = on(&shoppers, "v2");
        assert!((1..60).contains(&on_canary), "{on_canary} of 60 users are on v2");
        let moving: Vec<_> = shoppers.split_off(20);
        let homes: Vec<_> = moving.iter().map(|(_, home)| home.clone()).collect();
        let users = moving.into_iter().map(|(user, _)| user).collect();
        let crowd = Crowd::start(users, LoadProfile { concurrency: 4, ..LoadProfile::navigate("/cart", 3) });
        for (stable, canary) in [("v2", "v1"), ("v1", "v2"), ("v2", "v1")] {
            let swapped = fixture.edit(SHOP, |document| {
                document.set("/spec/versions/stable", stable);
                document.set("/spec/versions/canary", canary);
            });
            swapped.await.expect("the roles arrive");
            all_find_their_tea(&mut shoppers).await;
        }
        let (_, report) = crowd.stop().await.expect("the crowd comes back");
        nobody_moved(&report, &homes);
        assert_eq!(disruption.changes().await.expect("statistics"), []);
    })
    .await;
}

fn nobody_moved(report: &Report, homes: &[(String, String)]) {
    assert!(report.failures().is_empty(), "{:?}", report.failures().first());
    assert_eq!((report.closed(), report.lost().len()), (0, 0));
    for record in &report.records {
        let (version, pod) = &homes[record.user];
        assert_eq!((record.seen.version.as_ref(), record.seen.pod.as_ref()), (Some(version), Some(pod)));
    }
}

#[tokio::test]
async fn everyone_is_on_stable_with_the_next_request_after_a_rollback() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |mut fixture| async move {
        let mut shoppers = shoppers(&fixture, 5).await;
        assert_eq!(on(&shoppers, "v2"), 5);
        roll_back(&mut fixture).await;
        for (user, _) in &mut shoppers {
            let response = user.navigate("/").await.expect("a response");
            assert_eq!((response.status, version(&response)), (200, "v1"));
        }
    })
    .await;
}

#[tokio::test]
async fn pins_of_a_label_that_is_used_again_after_a_rollback_do_not_count() {
    in_every_world(Document::session("shop").with("/spec/weight", "100"), |mut fixture| async move {
        let endpoints = fixture.document(SHOP).expect("a document").get("/spec/delivery/local/endpoints/v2");
        let mut old = shoppers(&fixture, 5).await;
        roll_back(&mut fixture).await;
        let again = fixture.edit(SHOP, |document| {
            document.set("/spec/versions/canary", "v2");
            document.set("/spec/delivery/local/endpoints/v2", endpoints);
            document.set("/spec/weight", "0");
        });
        again.await.expect("the canary comes again");
        for (user, _) in &mut old {
            let response = user.navigate("/cart").await.expect("a response");
            assert_eq!(
                (response.status, version(&response)),
                (200, "v1"),
                "the old pin names a version that is gone"
            );
        }
        // New pins of the same label count.
        fixture.weight(SHOP, "100").await.expect("the weight arrives");
        let mut new = shoppers(&fixture, 5).await;
        fixture.weight(SHOP, "0").await.expect("the weight arrives");
        assert_eq!(on(&new, "v2"), 5);
        all_find_their_tea(&mut new).await;
        // Sessions that were decided again are pinned again: the old users stay on stable now, whatever the weight.
        fixture.weight(SHOP, "100").await.expect("the weight arrives");
        for (user, _) in &mut old {
            let response = user.fetch("/cart").await.expect("a response");
            assert_eq!((version(&response), session(&response)), ("v1", "lost"), "{:?}", home(&response));
        }
    })
    .await;
}

async fn roll_back(fixture: &mut wasm_tests::scenario::EnvoyFixture) {
    let gone = fixture.edit(SHOP, |document| {
        document.set("/spec/versions/canary", Value::Null);
        document.set("/spec/delivery/local/endpoints/v2", Value::Null);
    });
    gone.await.expect("the rollback arrives");
}
