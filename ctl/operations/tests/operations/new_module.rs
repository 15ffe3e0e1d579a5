//! A new module of the filter: a step of its own, reverted if a proxy does not run it.

use canary_operations::Error;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{
    apply, apply_without_istiod, base64, release, run, set_weight, shop, uninstall, with_bytes,
};
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

#[test]
fn an_embedded_module_that_no_proxy_runs_is_reverted_and_no_record_has_its_bytes() {
    run(async {
        let (old, new) = (with_bytes(b"\0asm old"), with_bytes(b"\0asm new"));
        let api = shop();
        let cluster = api.cluster().await;
        apply(&cluster, &old).await.unwrap();
        api.state().proxies.set_unreachable_module(&base64(b"\0asm new"));
        // Whatever is written, the bytes of a module are in the configuration or in the ConfigMap for them.
        api.before_write(|state, _| {
            let record = state.store.find("ConfigMap", "shop-canary").unwrap().to_string();
            assert!(
                !record.contains(&base64(b"\0asm old")) && !record.contains(&base64(b"\0asm new")),
                "{record}"
            );
        });
        let failed = apply_without_istiod(&cluster, &new).await.unwrap_err().to_string();
        assert!(failed.starts_with("module sha256:"), "{failed}");
        assert!(config_names(&api, &base64(b"\0asm old")), "the configuration has the old module again");
        assert_eq!(api.state().store.find("ConfigMap", "shop-canary-module"), None);
        let left = cluster.plan(&old).await.unwrap();
        assert!(left.is_empty(), "the next apply leaves {left:?}");
    });
}

#[test]
fn a_module_moves_between_a_url_and_the_configuration() {
    run(async {
        let (url, embedded) = (release(&json!({"maxStep": 30})), with_bytes(b"\0asm"));
        let api = shop();
        let cluster = api.cluster().await;
        for release in [&url, &embedded, &url] {
            apply(&cluster, release).await.unwrap();
            let is_embedded = config_names(&api, &base64(b"\0asm"));
            assert_eq!(
                is_embedded,
                release.delivery.module == embedded.delivery.module,
                "{:?}",
                release.delivery.module
            );
            assert_eq!(api.state().store.find("ConfigMap", "shop-canary-module"), None);
            let stored = cluster.get_record(&release.name).await.unwrap();
            let observed = cluster.observe_status(&release.name, &stored).await.unwrap();
            let size = observed.objects.embedded_module.map(|module| module.size);
            assert_eq!(size, is_embedded.then_some(4), "what `status` observes");
            let left = cluster.plan(release).await.unwrap();
            assert!(left.is_empty(), "the next apply leaves {left:?}");
        }
    });
}

#[test]
fn what_is_planned_with_an_embedded_module_shows_no_bytes() {
    run(async {
        let (old, new) = (with_bytes(b"\0asm old"), with_bytes(b"\0asm new"));
        let api = shop();
        let cluster = api.cluster().await;
        let first = serde_json::to_string(&cluster.plan(&old).await.unwrap()).unwrap();
        apply(&cluster, &old).await.unwrap();
        let second = serde_json::to_string(&cluster.plan(&new).await.unwrap()).unwrap();
        for shown in [first, second] {
            assert!(shown.contains("sha256:"), "{shown}");
            assert!(
                !shown.contains(&base64(b"\0asm old")) && !shown.contains(&base64(b"\0asm new")),
                "{shown}"
            );
        }
    });
}

#[test]
fn an_uninstall_takes_the_old_module_of_an_interrupted_rollout_with_it() {
    run(async {
        let (old, new) = (with_bytes(b"\0asm old"), with_bytes(b"\0asm new"));
        let api = shop();
        let cluster = api.cluster().await;
        apply(&cluster, &old).await.unwrap();
        // A Lease, the record, the ConfigMap, and half of what comes then.
        assert!(api.killed_after(6, async |process| apply(process, &new).await).await.is_none());
        assert!(api.state().store.find("ConfigMap", "shop-canary-module").is_some());
        uninstall(&cluster, &old).await.unwrap();
        assert_eq!(api.state().store.names(&["ConfigMap", "EnvoyFilter"]), [] as [&str; 0]);
    });
}

fn config_names(api: &FakeApi, module: &str) -> bool {
    let state = api.state();
    state.store.find("EnvoyFilter", "canary-gateway-config").unwrap().to_string().contains(module)
}
