//! A new module of the filter: a step of its own, reverted if a proxy does not run it.

use crate::fake_api::FakeApi;
use crate::fixture::{apply, apply_without_istiod, release, run, set_weight, shop};
use canary_operations::Error;
use serde_json::{Value, json};

const NEW: &str = "oci://registry.test/filter:2";

#[test]
fn a_new_module_that_every_proxy_runs_replaces_the_old_one() {
    run(async {
        let (api, new) = (shop(), release(&json!({"delivery": {"module": NEW}, "maxStep": 30})));
        let cluster = api.cluster().await;
        apply(&cluster, &release(&Value::Null)).await.unwrap();
        let applied = apply(&cluster, &new).await.unwrap();
        assert_eq!(applied.record.module_rollout, None);
        assert_eq!(applied.record.state.generation, 2, "nothing but the module changes");
        assert!(config_names(&api, NEW), "the configuration names the new module");
        let left = cluster.plan(&new).await.unwrap();
        assert!(left.is_empty(), "the next apply leaves {left:?}");
    });
}

#[test]
fn a_new_module_that_no_proxy_runs_is_reverted_and_a_weight_needs_no_second_try() {
    run(async {
        let (api, old) = (shop(), release(&Value::Null));
        let new = release(&json!({"delivery": {"module": NEW}}));
        let cluster = api.cluster().await;
        apply(&cluster, &old).await.unwrap();
        api.state().proxies.set_unreachable_module(NEW);
        let failed = apply_without_istiod(&cluster, &new).await;
        assert!(matches!(failed, Err(Error::NoModule { .. })), "{failed:?}");
        assert!(!config_names(&api, NEW), "the configuration names the old module");
        set_weight(&cluster, &old, "20").await.unwrap();
        assert!(!config_names(&api, NEW), "a weight does not bring the new module");
    });
}

fn config_names(api: &FakeApi, module: &str) -> bool {
    let state = api.state();
    state.store.find("EnvoyFilter", "canary-gateway-config").unwrap().to_string().contains(module)
}
