//! Routes in the VirtualService of another owner, by an `apply` and an `uninstall` that are killed.

use super::{assert_routes_lead_to_subsets, count_writes};
use canary_operations::Error;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, release, run, shop_with_virtual_service, uninstall};
use serde_json::{Value, json};

#[test]
fn an_injection_is_continued_after_any_write() {
    run(async {
        let release = release(&json!({"routes": "inject"}));
        let case = async |writes| {
            let api = with_virtual_service();
            let ended = api.killed_after(writes, async |process| apply(process, &release).await).await;
            if let Some(done) = ended {
                done.unwrap();
                return false;
            }
            let cluster = api.cluster().await;
            apply(&cluster, &release).await.unwrap();
            let left = cluster.plan(&release).await.unwrap();
            assert!(left.is_empty(), "killed after {writes} writes, the next apply leaves {left:?}");
            true
        };
        let expected = "keys, those of records, the record and before it its object, six objects, and two Leases taken and given back";
        assert_eq!(count_writes(case).await, 14, "{expected}");
    });
}

#[test]
fn an_uninstall_that_is_killed_after_any_write_gives_the_object_back_as_it_was() {
    run(async {
        let release = release(&json!({"routes": "inject"}));
        let case = async |writes| {
            let api = with_virtual_service();
            let before = by_hand(&api);
            let cluster = api.cluster().await;
            apply(&cluster, &release).await.unwrap();
            assert_ne!(by_hand(&api)["spec"], before["spec"], "routes were injected");
            let ended = api.killed_after(writes, async |process| uninstall(process, &release).await).await;
            if let Some(done) = ended {
                done.unwrap();
                return false;
            }
            let context = format!("killed after {writes} writes");
            assert_routes_lead_to_subsets(&api, &context);
            match uninstall(&cluster, &release).await {
                // Killed after the record was deleted.
                Err(Error::Unknown { .. }) => {}
                continued => continued.unwrap_or_else(|error| panic!("{context}: {error}")),
            }
            let after = by_hand(&api);
            assert_eq!(after["spec"], before["spec"], "{context}");
            for field in ["annotations", "labels", "managedFields"] {
                assert_eq!(after["metadata"][field], before["metadata"][field], "{context}: {field}");
            }
            true
        };
        assert_eq!(
            count_writes(case).await,
            14,
            "as without an injection, and the write that restores the owner"
        );
    });
}

/// The shop with a VirtualService of its owner, and without pods of the canary, whose users a first `apply` would move.
fn with_virtual_service() -> FakeApi {
    let api = shop_with_virtual_service();
    api.state().store.remove("Pod", "shop-v2");
    api
}

fn by_hand(api: &FakeApi) -> Value {
    api.state().store.find("VirtualService", "by-hand").unwrap().clone()
}
