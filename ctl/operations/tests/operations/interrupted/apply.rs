//! A first `apply` that is killed.

use super::{assert_routes_lead_to_subsets, assert_versions_have_routes, count_writes};
use fake_api_server::fixture::{apply, release, run, shop};
use serde_json::json;

#[test]
fn an_apply_is_continued_after_any_write() {
    run(async {
        let release = release(&json!({"weight": 20}));
        let case = async |writes| {
            let api = shop();
            let ended = api.killed_after(writes, async |process| apply(process, &release).await).await;
            if let Some(done) = ended {
                done.unwrap();
                return false;
            }
            let cluster = api.cluster().await;
            let context = format!("killed after {writes} writes");
            assert_routes_lead_to_subsets(&api, &context);
            assert_versions_have_routes(&api, &context);
            let applied = apply(&cluster, &release).await.unwrap();
            assert_eq!(applied.record.state.weight.to_string(), "20%", "killed after {writes} writes");
            let left = cluster.plan(&release).await.unwrap();
            assert!(left.is_empty(), "killed after {writes} writes, the next apply leaves {left:?}");
            true
        };
        let expected = "keys, those of records, two records and before them their object, six objects, a weight, and two Leases taken and given back";
        assert_eq!(count_writes(case).await, 16, "{expected}");
    });
}
