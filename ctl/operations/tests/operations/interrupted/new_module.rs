//! The rollout of a new module that is killed.

use super::count_writes;
use canary_operations::Error;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{
    apply, apply_without_istiod, base64, release, run, set_weight, shop, with_bytes,
};
use serde_json::{Value, json};

const NEW: &str = "oci://registry.test/filter:2";
/// The bytes of embedded modules.
const OLD: &[u8] = b"\0asm old";
const NEW_BYTES: &[u8] = b"\0asm new";

/// A release with a module, the same with a new one, and what an object contains of each.
struct Modules {
    old: Release,
    new: Release,
    old_text: String,
    new_text: String,
}

fn by_url() -> Modules {
    let (old, new) = (release(&Value::Null), release(&json!({"delivery": {"module": NEW}})));
    Modules { old, new, old_text: "oci://registry.test/filter:1".to_owned(), new_text: NEW.to_owned() }
}

fn embedded() -> Modules {
    let (old, new) = (with_bytes(OLD), with_bytes(NEW_BYTES));
    Modules { old, new, old_text: base64(OLD), new_text: base64(NEW_BYTES) }
}

/// Kills the rollout after each write, and continues it by `apply`; how many writes it has.
async fn continued_after_any_write(Modules { old, new, new_text, .. }: &Modules) -> usize {
    count_writes(async |writes| {
        let context = format!("killed after {writes} writes");
        let api = installed(old).await;
        if let Some(done) = api.killed_after(writes, async |process| apply(process, new).await).await {
            done.unwrap();
            return false;
        }
        let cluster = api.cluster().await;
        let applied = apply(&cluster, new).await.unwrap();
        assert_eq!(applied.record.module_rollout, None, "{context}");
        assert!(config_names(&api, new_text), "{context}, the old module is still configured");
        assert_eq!(backup(&api), None, "{context}");
        let left = cluster.plan(new).await.unwrap();
        assert!(left.is_empty(), "{context}, the next apply leaves {left:?}");
        true
    })
    .await
}

/// Kills the rollout of a module that no proxy can run after each write, and sets a weight; how many writes it has.
async fn restored_after_any_write(Modules { old, new, old_text, new_text }: &Modules) -> usize {
    count_writes(async |writes| {
        let context = format!("killed after {writes} writes");
        let api = installed(old).await;
        api.state().proxies.set_unreachable_module(new_text);
        let ended = api.killed_after(writes, async |process| apply_without_istiod(process, new).await).await;
        if let Some(done) = ended {
            assert!(matches!(done, Err(Error::NoModule { .. })), "{done:?}");
            return false;
        }
        let set = set_weight(&api.cluster().await, old, "20").await;
        set.unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(config_names(&api, old_text), "{context}, a weight leaves the new module");
        let applied = apply(&api.cluster().await, old).await.unwrap();
        assert_eq!(applied.record.module_rollout, None, "{context}");
        assert_eq!(backup(&api), None, "{context}");
        true
    })
    .await
}

#[test]
fn a_module_rollout_is_continued_after_any_write() {
    run(async {
        let expected = "a Lease, and under three times that of the shared objects: nothing, the module, the record; a record before";
        assert_eq!(continued_after_any_write(&by_url()).await, 11, "{expected}");
        let expected = "the same; the ConfigMap, its end, and the record without it";
        assert_eq!(continued_after_any_write(&embedded()).await, 14, "{expected}");
    });
}

#[test]
fn a_weight_restores_the_old_module_after_a_rollout_that_was_killed_after_any_write() {
    run(async {
        let expected = "as far as the module; a record, a Lease, the old module, and the record again";
        assert_eq!(restored_after_any_write(&by_url()).await, 13, "{expected}");
        let expected = "the same; the ConfigMap and its end";
        assert_eq!(restored_after_any_write(&embedded()).await, 15, "{expected}");
    });
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

/// The ConfigMap with an embedded module that is being replaced.
fn backup(api: &FakeApi) -> Option<Value> {
    api.state().store.find("ConfigMap", "shop-canary-module").cloned()
}
