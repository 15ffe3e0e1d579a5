//! Sidecars that run without V8: restarting them restarts the application, so it takes a word more.

use crate::support::gateway_without_v8::options;
use crate::support::in_the_mesh;
use crate::support::release_fixture::refused;
use canary_operations::{Access, ApplyOptions, Cluster, PrepareOptions, WaitOptions, WriteOptions};
use canary_release::file::parse;
use canary_release::preflight::{PreflightCheck, WasmRuntime};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

#[test]
#[ignore = "takes long: ./x test long"]
fn sidecars_without_v8_are_restarted_only_where_the_end_of_their_sessions_is_accepted() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "prepared-sidecars", &ShopEnvOptions::default()).await.unwrap();
        env.add_catalog(lab, "headers").await.unwrap();
        let image = json!({"sidecar.istio.io/proxyImage": "docker.io/istio/proxyv2:1.28.0"});
        let patch = json!({"spec": {"template": {"metadata": {"annotations": image}}}}).to_string();
        for version in ["v1", "v2"] {
            let deployment = format!("shop-{version}");
            let old = ["patch", "deployment", &deployment, "-n", &env.namespace, "-p", &patch];
            lab.kubectl(&old).await.unwrap();
        }
        for version in ["v1", "v2"] {
            lab.rolled_out(&env.namespace, &format!("shop-{version}")).await.unwrap();
        }
        let document = env.catalog_release().unwrap().with("/spec/weight", "0");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let applied = async || {
            let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
            let skipped = &[PreflightCheck::NoUserKey];
            cluster
                .apply(&release, ApplyOptions { waiting, wait: true, skipped, allow_rolled_back: false })
                .await
        };
        lab.until("the end of the old pods", async || {
            let proxies = cluster.preparation(&release).await.ok()?.proxies;
            (proxies.len() == 2).then_some(())
        })
        .await
        .unwrap();

        refused(PreflightCheck::NoWasmRuntime, &applied().await);
        let done = cluster.prepare_proxies(&release, options(&mut |_| {})).await;
        let message = refused(PreflightCheck::MovesUsers, &done);
        for deployment in ["shop-v1", "shop-v2"] {
            let named = format!("Deployment prepared-sidecars/{deployment}");
            assert!(message.contains(&named), "{message} names {named}");
        }

        let mut silent = |_: &str| {};
        let accepted = PrepareOptions { skipped: &[PreflightCheck::MovesUsers], ..options(&mut silent) };
        let prepared = cluster.prepare_proxies(&release, accepted).await.unwrap();
        assert_eq!(prepared.restarts.len(), 2, "{prepared:?}");
        let runtimes: Vec<_> = cluster.preparation(&release).await.unwrap().proxies;
        assert!(runtimes.iter().all(|proxy| proxy.runtime == WasmRuntime::Present), "{runtimes:?}");
        applied().await.unwrap();
    });
}
