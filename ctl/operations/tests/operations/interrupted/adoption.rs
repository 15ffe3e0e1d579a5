//! An `apply` over objects of another owner that is killed.

use super::count_writes;
use canary_operations::WriteOptions;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, options, release, run, shop};
use serde_json::{Value, json};

const KINDS: [&str; 3] = ["DestinationRule", "EnvoyFilter", "VirtualService"];

#[test]
fn an_adoption_is_continued_after_any_write() {
    run(async {
        let release = release(&Value::Null);
        let objects = rendered(&release).await;
        let forced = || WriteOptions { force_conflicts: true, ..options() };
        let case = async |writes| {
            let api = shop();
            for object in &objects {
                api.state().create(object);
            }
            let ended =
                api.killed_after_with(forced(), writes, async |process| apply(process, &release).await).await;
            if let Some(done) = ended {
                done.unwrap();
                return false;
            }
            apply(&api.cluster_with(forced()).await, &release).await.unwrap();
            let left = api.cluster().await.plan(&release).await.unwrap();
            assert!(left.is_empty(), "killed after {writes} writes, the next apply leaves {left:?}");
            let state = api.state();
            let rule = state.store.find("DestinationRule", "shop-canary").unwrap();
            assert_eq!(rule["spec"]["trafficPolicy"], Value::Null, "killed after {writes} writes: {rule}");
            true
        };
        let expected = "keys, those of records, the record and before it its object, two writes for each of six objects, a Lease, and twice that of the shared objects";
        assert_eq!(count_writes(case).await, 22, "{expected}");
    });
}

/// The objects of the release, written by another owner with a field of its own.
async fn rendered(release: &Release) -> Vec<Value> {
    let api: FakeApi = shop();
    apply(&api.cluster().await, release).await.unwrap();
    let state = api.state();
    let plain = |object: &Value| {
        let mut object = object.clone();
        let metadata = &object["metadata"];
        object["metadata"] = json!({"name": metadata["name"], "namespace": metadata["namespace"]});
        if object["kind"] == "DestinationRule" {
            object["spec"]["trafficPolicy"] = json!({"tls": {"mode": "SIMPLE"}});
        }
        object
    };
    KINDS.into_iter().flat_map(|kind| state.store.of_kind(kind)).map(plain).collect()
}
