//! Every preflight check fails for what it is for, before anything is written, and is skipped by its name.

use crate::beside_an_api_server;
use canary_operations::{PromoteOptions, RollbackOptions};
use canary_release::preflight::PreflightCheck;
use serde_json::json;
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, apply_although, check_weight, refused};

#[test]
fn a_canary_without_a_ready_pod_is_not_promoted_and_a_stable_without_one_gets_no_users_back() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "unready-roles").await;
        fixture.create_service("shop").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let stored = cluster.get_record(&release.name).await.unwrap();
        let promote = async |skipped| {
            let options = PromoteOptions { drain: None, skipped };
            cluster.check_promotion(&release.name, stored.clone(), options).await
        };
        let message = refused(PreflightCheck::NoReadyPods, &promote(&[]).await);
        assert_eq!(message, "version `v2` has no pod behind Service `shop`");
        promote(&[PreflightCheck::NoReadyPods]).await.unwrap();

        let options = RollbackOptions::default();
        let rollback = cluster.check_rollback(&release.name, stored.clone(), options).await;
        let message = refused(PreflightCheck::NoReadyPods, &rollback);
        assert_eq!(message, "version `v1` has no pod behind Service `shop`");
    });
}

#[test]
fn users_are_not_sent_where_no_pod_is_or_no_route_leads() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "guarded-weight").await;
        fixture.create_service("shop").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let message =
            refused(PreflightCheck::NoReadyPods, &check_weight(&cluster, &release, "20", &[]).await);
        assert_eq!(message, "version `v2` has no pod behind Service `shop`");
        check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods]).await.unwrap();

        api.kubectl(&["delete", "virtualservice", "shop-canary", "-n", "guarded-weight"]).await.unwrap();
        let message = refused(
            PreflightCheck::NoRoutes,
            &check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods]).await,
        );
        assert_eq!(
            message,
            "VirtualService guarded-weight/shop-canary is missing: it was deleted, or the installation was interrupted before it was written"
        );
        check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods, PreflightCheck::NoRoutes])
            .await
            .unwrap();
    });
}

#[test]
fn a_weight_does_not_jump_beyond_the_largest_step_not_even_the_first() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "guarded-step").await;
        let document = fixture.document("shop").with("/spec/weight", 60);
        let (cluster, release) = (fixture.cluster().await, ReleaseFixture::read(&document));
        refused(PreflightCheck::MaxStep, &apply(&cluster, &release).await);
        let written = fixture.versions().await;
        assert!(written.is_empty(), "{written:?}");
        let skipped = [PreflightCheck::NoReadyPods, PreflightCheck::NoProxies, PreflightCheck::MaxStep];
        let applied = apply_although(&cluster, &release, &skipped).await.unwrap();
        assert_eq!(applied.record.state.weight, "60".parse().unwrap());
        check_weight(&cluster, &release, "100", &[PreflightCheck::NoReadyPods]).await.unwrap();
    });
}

#[test]
fn a_release_that_cannot_tell_its_users_apart_is_refused() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "guarded-key").await;
        let document =
            fixture.document("shop").with("/spec/identifyBy", json!([])).with("/spec/mint", "never");
        let (cluster, release) = (fixture.cluster().await, ReleaseFixture::read(&document));
        let message = refused(PreflightCheck::NoUserKey, &apply(&cluster, &release).await);
        assert_eq!(
            message,
            "expected a key of users, found none, and no id is minted: everyone is on stable"
        );
        let written = fixture.versions().await;
        assert!(written.is_empty(), "{written:?}");
        let skipped = [PreflightCheck::NoReadyPods, PreflightCheck::NoProxies, PreflightCheck::NoUserKey];
        apply_although(&cluster, &release, &skipped).await.unwrap();
        refused(
            PreflightCheck::NoUserKey,
            &check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods]).await,
        );
        check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods, PreflightCheck::NoUserKey])
            .await
            .unwrap();
    });
}
