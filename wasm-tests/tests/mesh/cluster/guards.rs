//! Every guard refuses what it is for, before anything is written, and lets it pass when its name is given.

use super::desk::{Desk, apply, apply_although, name};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Cluster, Error};
use canary_ctl::plan::{Guard, Refusal};
use canary_ctl::spec::Release;
use serde_json::json;

#[track_caller]
fn refused(by: Guard, done: &Result<impl std::fmt::Debug, Error>) -> String {
    match done {
        Err(Error::Guarded(Refusal { guard, message, .. })) if *guard == by => message.clone(),
        other => panic!("{other:?}"),
    }
}

async fn judge(cluster: &Cluster, release: &Release, share: &str, overridden: &[Guard]) -> Result<(), Error> {
    let stored = cluster.get_record(&name(release)).await.unwrap();
    cluster.judge_weight(&release.name, &stored.record, share.parse().unwrap(), overridden).await
}

#[test]
fn users_are_not_sent_where_no_pod_is_or_no_route_leads() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "guarded-weight").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let message = refused(Guard::NoReadyPods, &judge(&cluster, &release, "20", &[]).await);
        assert_eq!(message, "version `v2` has no ready pod of 0 behind Service `shop`");
        judge(&cluster, &release, "20", &[Guard::NoReadyPods]).await.unwrap();

        lab.kubectl(&["delete", "virtualservice", "shop-canary", "-n", "guarded-weight"]).await.unwrap();
        let message = refused(Guard::NoRoutes, &judge(&cluster, &release, "20", &[Guard::NoReadyPods]).await);
        assert_eq!(message, "no VirtualService leads to version `v2` by the filter's header");
        judge(&cluster, &release, "20", &[Guard::NoReadyPods, Guard::NoRoutes]).await.unwrap();
    });
}

#[test]
fn a_weight_does_not_jump_beyond_the_largest_step_not_even_the_first() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "guarded-step").await;
        let document = desk.document("shop").with("/spec/weight", 60);
        let (cluster, release) = (desk.cluster().await, Desk::read(&document));
        refused(Guard::MaxStep, &apply(&cluster, &release).await);
        assert!(desk.versions().await.is_empty());
        let overridden = [Guard::NoReadyPods, Guard::MaxStep];
        let applied = apply_although(&cluster, &release, &overridden).await.unwrap();
        assert_eq!(applied.record.standing.weight, "60".parse().unwrap());
        judge(&cluster, &release, "100", &[Guard::NoReadyPods]).await.unwrap();
    });
}

#[test]
fn a_release_that_cannot_tell_its_users_apart_is_refused() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "guarded-key").await;
        let document = desk.document("shop").with("/spec/keys", json!([])).with("/spec/mint", "never");
        let (cluster, release) = (desk.cluster().await, Desk::read(&document));
        let message = refused(Guard::NoKey, &apply(&cluster, &release).await);
        assert_eq!(
            message,
            "expected a key of users, found none, and no id is minted: everyone is on stable"
        );
        assert!(desk.versions().await.is_empty());
        apply_although(&cluster, &release, &[Guard::NoReadyPods, Guard::NoKey]).await.unwrap();
        refused(Guard::NoKey, &judge(&cluster, &release, "20", &[Guard::NoReadyPods]).await);
        judge(&cluster, &release, "20", &[Guard::NoReadyPods, Guard::NoKey]).await.unwrap();
    });
}
