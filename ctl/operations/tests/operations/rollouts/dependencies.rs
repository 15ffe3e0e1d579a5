//! A rollout that depends on the version of another release.

use super::{Canary, RolloutFixture};
use canary_release::alert::RolloutResult;
use canary_release::rollout::{RolloutAction, RolloutPhase};
use fake_api_server::fixture::{apply, blog, promote, run, set_weight};
use serde_json::json;

async fn after_the_blog() -> RolloutFixture {
    let changes = json!({"dependsOn": [{"name": "blog", "stable": "v2"}]});
    RolloutFixture::started_with(Canary::Good, &changes).await
}

/// Why the rollout waits before its first step.
async fn reason(fixture: &RolloutFixture) -> String {
    let cluster = fixture.api.cluster().await;
    let report = fixture.driver(&cluster).reconcile(fixture.now).await.unwrap();
    assert_eq!((report.decision.phase, report.decision.action), (RolloutPhase::Waiting, RolloutAction::Wait));
    report.decision.reason
}

#[test]
fn a_rollout_waits_until_the_release_that_it_depends_on_has_promoted_the_version() {
    run(async {
        let mut fixture = after_the_blog().await;
        let found = reason(&fixture).await;
        assert!(
            found.starts_with("expected release shop/blog with `v2` as stable, found no such release"),
            "{found}"
        );
        let blog = blog(&fixture.api);
        apply(&fixture.cluster, &blog).await.unwrap();
        set_weight(&fixture.cluster, &blog, "50").await.unwrap();
        let found = reason(&fixture).await;
        assert!(found.starts_with("expected release shop/blog with `v2` as stable, found `v1`"), "{found}");
        promote(&fixture.cluster, &blog).await.unwrap();
        assert_eq!(fixture.drive().await.ended(), Some(RolloutResult::Promoted));
    });
}

#[test]
fn a_record_that_cannot_be_read_is_waited_for_and_the_reason_says_why() {
    run(async {
        let fixture = after_the_blog().await;
        let record = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop", "name": "blog-canary"}, "data": {"release.json": "{"},
        });
        fixture.api.state().create(&record);
        let found = reason(&fixture).await;
        assert!(found.starts_with("expected release shop/blog with `v2` as stable, "), "{found}");
        assert!(!found.contains("found no such release"), "{found}");
    });
}
