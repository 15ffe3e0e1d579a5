//! The rollout of a new module that is killed.

use super::count_writes;
use crate::fake_api::FakeApi;
use crate::fixture::{apply, apply_without_istiod, base64, release, run, set_weight, shop, with_bytes};
use canary_operations::Error;
use canary_release::spec::Release;
use serde_json::{Value, json};

const NEW: &str = "oci://registry.test/filter:2";
/// The bytes of embedded modules.
const OLD: &[u8] = b"\0asm old";
const NEW_BYTES: &[u8] = b"\0asm new";

#[test]
fn a_module_rollout_is_continued_after_any_write() {
    run(async {
        let (old, new) = releases();
        let case = async |writes| {
            let api = installed(&old).await;
            let ended = api.killed_after(writes, async |process| apply(process, &new).await).await;
            if let Some(done) = ended {
                done.unwrap();
                return false;
            }
            let cluster = api.cluster().await;
            let applied = apply(&cluster, &new).await.unwrap();
            assert_eq!(applied.record.module_rollout, None, "killed after {writes} writes");
            assert!(
                config_names(&api, NEW),
                "killed after {writes} writes, the old module is still configured"
            );
            let left = cluster.plan(&new).await.unwrap();
            assert!(left.is_empty(), "killed after {writes} writes, the next apply leaves {left:?}");
            true
        };
        let expected = "a Lease, and under three times that of the shared objects: nothing, the module, the record; a record before";
        assert_eq!(count_writes(case).await, 11, "{expected}");
    });
}

#[test]
fn a_weight_restores_the_old_module_after_a_rollout_that_was_killed_after_any_write() {
    run(async {
        let (old, new) = releases();
        let case = async |writes| {
            let api = installed(&old).await;
            api.state().proxies.set_unreachable_module(NEW);
            let ended =
                api.killed_after(writes, async |process| apply_without_istiod(process, &new).await).await;
            if let Some(done) = ended {
                assert!(matches!(done, Err(Error::NoModule { .. })), "{done:?}");
                return false;
            }
            set_weight(&api.cluster().await, &old, "20").await.unwrap();
            assert!(!config_names(&api, NEW), "killed after {writes} writes, a weight leaves the new module");
            true
        };
        let expected = "as far as the module; a record, a Lease, the old module, and the record again";
        assert_eq!(count_writes(case).await, 13, "{expected}");
    });
}

#[test]
fn the_rollout_of_an_embedded_module_is_continued_after_any_write() {
    run(async {
        let (old, new) = (with_bytes(OLD), with_bytes(NEW_BYTES));
        let case = async |writes| {
            let api = installed(&old).await;
            let ended = api.killed_after(writes, async |process| apply(process, &new).await).await;
            if let Some(done) = ended {
                done.unwrap();
                return false;
            }
            let cluster = api.cluster().await;
            let applied = apply(&cluster, &new).await.unwrap();
            assert_eq!(applied.record.module_rollout, None, "killed after {writes} writes");
            assert!(
                config_names(&api, &base64(NEW_BYTES)),
                "killed after {writes} writes, the old module is there"
            );
            let backup = api.state().store.find("ConfigMap", "shop-canary-module").cloned();
            assert_eq!(backup, None, "killed after {writes} writes");
            let left = cluster.plan(&new).await.unwrap();
            assert!(left.is_empty(), "killed after {writes} writes, the next apply leaves {left:?}");
            true
        };
        let expected = "as that of a module from a URL; the ConfigMap, its end, and the record without it";
        assert_eq!(count_writes(case).await, 14, "{expected}");
    });
}

#[test]
fn a_weight_restores_the_old_embedded_module_after_a_rollout_that_was_killed_after_any_write() {
    run(async {
        let (old, new) = (with_bytes(OLD), with_bytes(NEW_BYTES));
        let case = async |writes| {
            let api = installed(&old).await;
            api.state().proxies.set_unreachable_module(&base64(NEW_BYTES));
            let ended =
                api.killed_after(writes, async |process| apply_without_istiod(process, &new).await).await;
            if let Some(done) = ended {
                assert!(matches!(done, Err(Error::NoModule { .. })), "{done:?}");
                return false;
            }
            let context = format!("killed after {writes} writes");
            let set = set_weight(&api.cluster().await, &old, "20").await;
            set.unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(config_names(&api, &base64(OLD)), "{context}, a weight leaves the new module");
            let applied = apply(&api.cluster().await, &old).await.unwrap();
            assert_eq!(applied.record.module_rollout, None, "{context}");
            assert_eq!(api.state().store.find("ConfigMap", "shop-canary-module"), None, "{context}");
            true
        };
        let expected = "as far as the module, with a ConfigMap; a record, a Lease, the old module, its end, the record again";
        assert_eq!(count_writes(case).await, 15, "{expected}");
    });
}

/// The release with its module, and with a new one.
fn releases() -> (Release, Release) {
    (release(&Value::Null), release(&json!({"delivery": {"module": NEW}})))
}

async fn installed(release: &Release) -> FakeApi {
    let api = shop();
    apply(&api.cluster().await, release).await.unwrap();
    api
}

fn config_names(api: &FakeApi, module: &str) -> bool {
    let state = api.state();
    state.store.find("EnvoyFilter", "canary-gateway-config").unwrap().to_string().contains(module)
}
