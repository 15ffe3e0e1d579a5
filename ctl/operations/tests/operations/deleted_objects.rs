//! Objects of a release that somebody has deleted, as against those that an operation has not written.

use canary_operations::{Cluster, Error};
use canary_release::plan;
use canary_release::spec::Release;
use canary_release::status::problems;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, promote, release, run, set_weight, shop};
use serde_json::{Value, json};

/// The problems of a release.
async fn found(cluster: &Cluster, release: &Release) -> Vec<String> {
    let stored = cluster.get_record(&release.name).await.unwrap();
    let observation = cluster.observe_status(&release.name, &stored).await.unwrap();
    problems(&observation, None, 0).iter().map(ToString::to_string).collect()
}

fn history(api: &FakeApi) -> Value {
    let state = api.state();
    state.store.find("ConfigMap", "shop-canary").unwrap()["data"].clone()
}

#[test]
fn a_deleted_rule_is_named_by_the_status_and_by_a_promotion_that_writes_nothing() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        assert_eq!(found(&cluster, &release).await, [""; 0]);
        api.state().store.remove("DestinationRule", "shop-canary");
        let expected = "DestinationRule shop/shop-canary is missing: it was deleted";
        assert_eq!(found(&cluster, &release).await, [expected]);
        let before = history(&api);
        let refused = promote(&cluster, &release).await;
        let Err(Error::Plan(error @ plan::Error::MissingObject(_))) = refused else { panic!("{refused:?}") };
        assert_eq!(error.to_string(), expected);
        assert_eq!(history(&api), before);
        apply(&cluster, &release).await.unwrap();
        assert_eq!(found(&cluster, &release).await, [""; 0], "an apply writes it again");
    });
}

#[test]
fn a_raise_that_meets_deleted_routes_names_their_object() {
    run(async {
        let (api, release) = (shop(), release(&Value::Null));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "10").await.unwrap();
        let routes = api.state().store.names(&["VirtualService"]);
        api.state().store.remove("VirtualService", "shop-canary");
        let expected = "VirtualService shop/shop-canary is missing: it was deleted";
        assert_eq!(found(&cluster, &release).await, [expected], "of {routes:?}");
        let refused = set_weight(&cluster, &release, "20").await;
        let Err(Error::Preflight(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.message, expected);
    });
}

#[test]
fn what_a_killed_apply_has_not_written_was_not_deleted() {
    run(async {
        let (api, release) = (shop(), release(&json!({"weight": 20})));
        // Of the release: Lease, keys, record, configuration, runtime, filter.
        let ended = api.killed_after(8, async |process| apply(process, &release).await).await;
        assert!(ended.is_none(), "{ended:?}");
        assert!(
            api.state().store.find("DestinationRule", "shop-canary").is_none(),
            "killed before its subsets"
        );
        let found = found(&api.cluster().await, &release).await;
        let expected =
            "DestinationRule shop/shop-canary is missing: an operation was interrupted before it was written";
        assert!(found.iter().any(|problem| problem == expected), "expected {expected}, found {found:?}");
        assert!(found.iter().all(|problem| !problem.contains("deleted")), "{found:?}");
    });
}
