//! Every preflight check fails for what it is for, before anything is written, and is skipped by its name.

use super::desk::{Desk, apply, apply_although, check_weight, refused};
use crate::support::in_the_mesh;
use canary_ctl::plan::PreflightCheck;
use serde_json::json;

#[test]
fn users_are_not_sent_where_no_pod_is_or_no_route_leads() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "guarded-weight").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let message =
            refused(PreflightCheck::NoReadyPods, &check_weight(&cluster, &release, "20", &[]).await);
        assert_eq!(message, "version `v2` has no ready pod of 0 behind Service `shop`");
        check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods]).await.unwrap();

        lab.kubectl(&["delete", "virtualservice", "shop-canary", "-n", "guarded-weight"]).await.unwrap();
        let message = refused(
            PreflightCheck::NoRoutes,
            &check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods]).await,
        );
        assert_eq!(message, "no VirtualService leads to version `v2` by the filter's header");
        check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods, PreflightCheck::NoRoutes])
            .await
            .unwrap();
    });
}

#[test]
fn a_weight_does_not_jump_beyond_the_largest_step_not_even_the_first() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "guarded-step").await;
        let document = desk.document("shop").with("/spec/weight", 60);
        let (cluster, release) = (desk.cluster().await, Desk::read(&document));
        refused(PreflightCheck::MaxStep, &apply(&cluster, &release).await);
        assert!(desk.versions().await.is_empty());
        let skipped = [PreflightCheck::NoReadyPods, PreflightCheck::MaxStep];
        let applied = apply_although(&cluster, &release, &skipped).await.unwrap();
        assert_eq!(applied.record.standing.weight, "60".parse().unwrap());
        check_weight(&cluster, &release, "100", &[PreflightCheck::NoReadyPods]).await.unwrap();
    });
}

#[test]
fn a_release_that_cannot_tell_its_users_apart_is_refused() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "guarded-key").await;
        let document = desk.document("shop").with("/spec/keys", json!([])).with("/spec/mint", "never");
        let (cluster, release) = (desk.cluster().await, Desk::read(&document));
        let message = refused(PreflightCheck::NoKey, &apply(&cluster, &release).await);
        assert_eq!(
            message,
            "expected a key of users, found none, and no id is minted: everyone is on stable"
        );
        assert!(desk.versions().await.is_empty());
        apply_although(&cluster, &release, &[PreflightCheck::NoReadyPods, PreflightCheck::NoKey])
            .await
            .unwrap();
        refused(
            PreflightCheck::NoKey,
            &check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods]).await,
        );
        check_weight(&cluster, &release, "20", &[PreflightCheck::NoReadyPods, PreflightCheck::NoKey])
            .await
            .unwrap();
    });
}
