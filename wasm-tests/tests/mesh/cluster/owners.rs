//! Other hands in our objects, and two operators at once.

use super::desk::{Desk, apply, name, percent};
use crate::support::in_the_mesh;
use canary_ctl::cluster::{Error, WriteOptions};
use canary_ctl::plan::Why;

const THEIRS: &str = r#"{"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
    "metadata": {"name": "shop-canary", "namespace": "an-owner"},
    "spec": {"http": [{"route": [{"destination": {"host": "elsewhere"}}]}]}}"#;

#[test]
fn a_field_of_another_owner_stops_the_call_which_names_both() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "an-owner").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let taking = ["apply", "--server-side", "--force-conflicts", "--field-manager=helm", "-f", "-"];
        lab.kubectl_as("admin", &taking, THEIRS).await.unwrap();
        let theirs = desk.versions().await;

        let plan = cluster.plan(&release).await.unwrap();
        let [change] = plan.changes.as_slice() else { panic!("{plan:?}") };
        assert_eq!(change.why, Why::Repair { by: vec!["helm".to_owned()] });
        let refused = apply(&cluster, &release).await;
        let Err(Error::Conflict { conflicts, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(conflicts, [("spec.http".to_owned(), "helm".to_owned())]);
        assert_eq!(desk.versions().await, theirs);

        let forceful =
            desk.cluster_that(WriteOptions { force_conflicts: true, ..WriteOptions::default() }).await;
        apply(&forceful, &release).await.unwrap();
        assert!(cluster.plan(&release).await.unwrap().is_empty());
    });
}

#[test]
fn what_a_hand_has_deleted_is_put_back() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "a-hand").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        lab.kubectl(&["delete", "destinationrule", "shop-canary", "-n", "a-hand"]).await.unwrap();
        let applied = apply(&cluster, &release).await.unwrap();
        assert_eq!(applied.plan.changes.len(), 1);
        assert!(desk.versions().await.contains_key("DestinationRule shop-canary"));
    });
}

#[test]
fn of_two_operators_one_wins_and_the_other_is_told_who_and_what() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "two-operators").await;
        let (cluster, release) = (desk.cluster().await, desk.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let seen = cluster.get_record(&name(&release)).await.unwrap();
        cluster.set_weight(&name(&release), seen.clone(), percent("20")).await.unwrap();
        let won = desk.versions().await;
        let second = cluster.set_weight(&name(&release), seen, percent("50")).await;
        let Err(Error::ConcurrentChange { last: Some(last), .. }) = second else { panic!("{second:?}") };
        assert!(last.starts_with("admin: weight 0% -> 20% (generation 2) at "), "{last}");
        assert_eq!(desk.versions().await, won);
    });
}

#[test]
fn two_first_applies_at_once_make_one_release() {
    in_the_mesh(async |lab| {
        let desk = Desk::new(lab, "at-once").await;
        let (one, other, release) = (desk.cluster().await, desk.cluster().await, desk.release("shop"));
        let (first, second) = tokio::join!(apply(&one, &release), apply(&other, &release));
        assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
        // Who lost has said so, and finds nothing left to do.
        apply(&other, &release).await.unwrap();
        assert!(one.plan(&release).await.unwrap().is_empty());
        assert_eq!(one.get_record(&name(&release)).await.unwrap().record.history.entries().len(), 1);
    });
}
