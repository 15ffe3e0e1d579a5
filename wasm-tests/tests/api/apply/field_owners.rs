//! Other hands in our objects, and two operators at once.

use crate::beside_an_api_server;
use canary_operations::{Error, WriteOptions};
use canary_release::plan::ChangeReason;
use serde_json::json;
use wasm_tests::api::release_fixture::{ReleaseFixture, apply, name, set_weight};

const THEIRS: &str = r#"{"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
    "metadata": {"name": "shop-canary", "namespace": "an-owner"},
    "spec": {"http": [{"route": [{"destination": {"host": "elsewhere"}}]}]}}"#;

#[test]
fn a_field_of_another_owner_stops_the_call_which_names_both() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "an-owner").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let taking = ["apply", "--server-side", "--force-conflicts", "--field-manager=helm", "-f", "-"];
        api.kubectl_as("admin", &taking, THEIRS).await.unwrap();
        let theirs = fixture.versions().await;

        let plan = cluster.plan(&release).await.unwrap();
        let [change] = plan.changes.as_slice() else { panic!("{plan:?}") };
        assert_eq!(change.why, ChangeReason::Repair { by: vec!["helm".to_owned()] });
        let refused = apply(&cluster, &release).await;
        let Err(Error::Conflict { conflicts, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(conflicts, [("spec.http".to_owned(), "helm".to_owned())]);
        assert_eq!(fixture.versions().await, theirs);

        let forceful =
            fixture.cluster_that(WriteOptions { force_conflicts: true, ..WriteOptions::default() }).await;
        apply(&forceful, &release).await.unwrap();
        assert_eq!(cluster.plan(&release).await.unwrap().changes, []);
    });
}

#[test]
fn an_object_that_was_deleted_by_hand_is_restored_with_its_labels() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "a-hand").await;
        let document = fixture.document("shop").with("/metadata/labels", json!({"team": "retail"}));
        let document = document.with("/metadata/annotations", json!({"acme.io/cost-centre": "42"}));
        let (cluster, release) = (fixture.cluster().await, ReleaseFixture::read(&document));
        apply(&cluster, &release).await.unwrap();
        api.kubectl(&["delete", "destinationrule", "shop-canary", "-n", "a-hand"]).await.unwrap();
        let applied = apply(&cluster, &release).await.unwrap();
        assert_eq!(applied.plan.changes.len(), 1);
        let written = fixture.versions().await;
        assert!(written.contains_key("DestinationRule shop-canary"), "{written:?}");
        for object in fixture.objects().await {
            let metadata = &object["metadata"];
            let found = (&metadata["labels"]["team"], &metadata["annotations"]["acme.io/cost-centre"]);
            assert_eq!(found, (&json!("retail"), &json!("42")), "{} {}", object["kind"], metadata["name"]);
        }
        assert_eq!(cluster.plan(&release).await.unwrap().changes, []);
    });
}

#[test]
fn of_two_concurrent_weights_one_is_refused_with_the_other_operator_and_change() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "two-operators").await;
        let (cluster, release) = (fixture.cluster().await, fixture.release("shop"));
        apply(&cluster, &release).await.unwrap();
        let seen = cluster.get_record(&name(&release)).await.unwrap();
        set_weight(&cluster, &name(&release), seen.clone(), "20").await.unwrap();
        let won = fixture.versions().await;
        let second = set_weight(&cluster, &name(&release), seen, "50").await;
        let Err(Error::ConcurrentChange { last: Some(last), .. }) = second else { panic!("{second:?}") };
        assert!(last.starts_with("admin: weight 0% -> 20% (generation 2) at "), "{last}");
        assert_eq!(fixture.versions().await, won);
    });
}

#[test]
fn two_first_applies_at_once_make_one_release() {
    beside_an_api_server(async |api| {
        let fixture = ReleaseFixture::new(api, "at-once").await;
        let (one, other, release) =
            (fixture.cluster().await, fixture.cluster().await, fixture.release("shop"));
        let (first, second) = tokio::join!(apply(&one, &release), apply(&other, &release));
        assert!(first.is_ok() || second.is_ok(), "{first:?} {second:?}");
        // The operator who lost has failed with an error, and a second call has nothing to do.
        apply(&other, &release).await.unwrap();
        assert_eq!(one.plan(&release).await.unwrap().changes, []);
        assert_eq!(one.get_record(&name(&release)).await.unwrap().record.history.entries().len(), 1);
    });
}
