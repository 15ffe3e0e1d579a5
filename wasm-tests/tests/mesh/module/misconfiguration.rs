//! Misconfigurations that would break a gateway with other manifests: no configuration, a bad one, no module, a name
//! used twice.
//!
//! With our manifests all users are on stable, no request is refused, and a valid configuration is active at once.

use std::time::{Duration, Instant};

use crate::support::filter_source::{Module, Parts, Web, route};
use crate::support::in_the_mesh;
use mesh_lab::{Lab, sha256};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};
use wasm_tests::scenario::Document;

/// How long it is watched that nothing happens: ECDS takes a tenth of it.
const WATCHED: Duration = Duration::from_secs(2);

#[test]
fn a_gateway_that_starts_without_its_configuration_becomes_ready_and_routes_to_stable() {
    in_the_mesh(async |lab| {
        let (env, release) = set_up(lab, "early").await;
        let parts = Parts::of(&env.generate(&[&release], 1).unwrap());
        lab.apply(&parts.filter).await.unwrap();
        let took = restart(lab, &env).await;
        eprintln!("a gateway without its configuration is ready after {took:?}");
        assert_everyone_is_on(&env, "v1").await;

        lab.apply(&parts.config).await.unwrap();
        until_everyone_is_on(lab, &env, "v2").await;
    });
}

#[test]
fn an_invalid_first_configuration_routes_to_stable_and_a_later_one_leaves_the_valid_one_in_force() {
    in_the_mesh(async |lab| {
        let (env, release) = set_up(lab, "bad").await;
        let good = Parts::of(&env.generate(&[&release], 1).unwrap());
        let [bad, worse] = [98, 99].map(|format| {
            let bad = good.config.replace("\"format\":1", &format!("\"format\":{format}"));
            assert_ne!(bad, good.config, "the generated configuration names its format");
            bad
        });
        lab.apply(&format!("{bad}{}", good.filter)).await.unwrap();
        until_metric(lab, &env, "canary_inert", 1.0).await;
        assert_everyone_is_on(&env, "v1").await;

        lab.apply(&good.config).await.unwrap();
        until_everyone_is_on(lab, &env, "v2").await;

        let before = refused(lab, &env);
        lab.apply(&worse).await.unwrap();
        until_refused(lab, &env, before).await;
        tokio::time::sleep(WATCHED).await;
        assert_everyone_is_on(&env, "v2").await;

        // Envoy caches that this one was accepted, and does not call the filter for it again.
        lab.apply(&bad).await.unwrap();
        until_said(lab, &env, "configuration not taken, the old one stays").await;
        assert_everyone_is_on(&env, "v2").await;
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_second_object_with_the_same_resource_name_fails_no_request_and_has_no_effect_once_deleted() {
    in_the_mesh(async |lab| {
        let (env, release) = set_up(lab, "twice").await;
        let parts = Parts::of(&env.generate(&[&release], 1).unwrap());
        lab.apply(&parts.delivery()).await.unwrap();
        until_everyone_is_on(lab, &env, "v2").await;
        let before = refused(lab, &env);
        let name = parts.config.lines().find(|line| line.starts_with("  name: ")).unwrap();
        let second = parts.config.replacen(name, "  name: somebody-elses", 1);
        lab.apply(&second).await.unwrap();
        until_refused(lab, &env, before).await;

        let lower = Parts::of(&env.generate(&[&release.with("/spec/weight", "0")], 2).unwrap());
        lab.apply(&lower.config).await.unwrap();
        tokio::time::sleep(WATCHED).await;
        assert_everyone_is_on(&env, "v2").await;
        let took = restart(lab, &env).await;
        eprintln!("a gateway with a name used twice is ready after {took:?}");
        assert_everyone_is_on(&env, "v1").await;

        lab.apply(&parts.config).await.unwrap();
        lab.delete(&second).await.unwrap();
        until_everyone_is_on(lab, &env, "v2").await;
    });
}

#[test]
fn an_envoyfilter_whose_module_cannot_be_fetched_leaves_the_one_that_works_and_answers_no_403() {
    in_the_mesh(async |lab| {
        let (env, release) = set_up(lab, "unfetched").await;
        let web = Web::start().await;
        let apply = async |module: &Module| {
            let parts = Parts::of(&env.generate(&[&module.of(&release, "envoyfilter")], 1).unwrap());
            let before = refused(lab, &env);
            lab.apply(&parts.delivery()).await.unwrap();
            before
        };
        for bad in [missing(&web), altered(&web)] {
            let before = apply(&bad).await;
            until_refused(lab, &env, before).await;
            assert_everyone_is_on(&env, "v1").await;
        }
        apply(&good(&web)).await;
        until_everyone_is_on(lab, &env, "v2").await;
        for bad in [missing(&web), altered(&web)] {
            let before = apply(&bad).await;
            until_refused(lab, &env, before).await;
            tokio::time::sleep(WATCHED).await;
            assert_everyone_is_on(&env, "v2").await;
        }
        assert!(web.missed() > 0, "the agent asked for the module that is not there");
    });
}

#[test]
fn a_plugin_whose_module_cannot_be_fetched_routes_to_stable_without_a_403() {
    in_the_mesh(async |lab| {
        let (env, release) = set_up(lab, "unplugged").await;
        let web = Web::start().await;
        for mode in ["wasmplugin", "trafficextension"] {
            let apply = async |module: &Module| {
                let parts = Parts::of(&env.generate(&[&module.of(&release, mode)], 1).unwrap());
                lab.apply(&parts.delivery()).await.unwrap();
                parts
            };
            let missed = web.missed();
            apply(&missing(&web)).await;
            lab.until("the agent's request", async || (web.missed() > missed).then_some(())).await.unwrap();
            tokio::time::sleep(WATCHED).await;
            assert_everyone_is_on(&env, "v1").await;
            apply(&good(&web)).await;
            until_everyone_is_on(lab, &env, "v2").await;
            let parts = apply(&altered(&web)).await;
            until_everyone_is_on(lab, &env, "v1").await;
            lab.delete(&parts.delivery()).await.unwrap();
        }
    });
}

/// An environment with routes to the shop, and a release with all new users on the canary once the filter runs.
async fn set_up(lab: &Lab, name: &str) -> (ShopEnv, Document) {
    let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway()).await.unwrap();
    let release = env.release().unwrap().with("/spec/weight", "100");
    route(lab, &env, &release).await;
    (env, release)
}

fn good(web: &Web) -> Module {
    Module { url: web.url("filter.wasm"), sha256: None }
}

/// A module that the server does not have.
fn missing(web: &Web) -> Module {
    Module { url: web.url("missing.wasm"), sha256: None }
}

/// A module that is not the one that was meant.
fn altered(web: &Web) -> Module {
    Module { url: web.url("filter.wasm"), sha256: Some(sha256(b"another module")) }
}

/// Ends the gateway's pod, and returns how long it takes until its successor is ready.
async fn restart(lab: &Lab, env: &ShopEnv) -> Duration {
    let pod = env.gateway_pod(lab).await.unwrap();
    let start = Instant::now();
    lab.kubectl(&["delete", "pod", "-n", &env.ingress, &pod, "--grace-period=1"]).await.unwrap();
    lab.rolled_out(&env.ingress, "gateway").await.unwrap();
    let took = start.elapsed();
    // Its predecessor was not given the time to leave: until kube-proxy has the change, connections to it fail.
    lab.until("a response of the new gateway", async || env.user().navigate("/").await.ok()).await.unwrap();
    took
}

/// New users, one after the other: all of them get 200 from this version.
async fn assert_everyone_is_on(env: &ShopEnv, version: &str) {
    for _ in 0..20 {
        let response = env.user().navigate("/").await.unwrap();
        assert_eq!((response.status, response.header("x-shop-version")), (200, Some(version)));
    }
}

/// Waits for that; meanwhile no request is refused or lost.
async fn until_everyone_is_on(lab: &Lab, env: &ShopEnv, version: &str) {
    lab.until(&format!("new users on {version} in {}", env.namespace), async || {
        let response = env.user().navigate("/").await.ok()?;
        assert_eq!(response.status, 200, "{response:?}");
        (response.header("x-shop-version") == Some(version)).then_some(())
    })
    .await
    .unwrap();
}

async fn until_metric(lab: &Lab, env: &ShopEnv, name: &str, value: f64) {
    let pod = env.gateway_pod(lab).await.unwrap();
    lab.until(&format!("{name} in {pod}"), async || {
        drop(env.user().fetch("/").await);
        let found = lab.proxy_metric(&env.ingress, &pod, name, &[]).await.ok()?;
        ((found - value).abs() < 0.5).then_some(())
    })
    .await
    .unwrap();
}

/// How many configurations of extensions the gateway's pods have refused, by their logs.
fn refused(lab: &Lab, env: &ShopEnv) -> usize {
    said(lab, env, "TypedExtensionConfig rejected")
}

/// How many lines of the logs of the gateway's pods have this in them.
fn said(lab: &Lab, env: &ShopEnv, words: &str) -> usize {
    let files = std::fs::read_dir(lab.logs()).unwrap().map(|file| file.unwrap());
    let of_the_gateway = files.filter(|file| file.file_name().to_string_lossy().starts_with(&env.ingress));
    let lines = |log: String| log.lines().filter(|line| line.contains(words)).count();
    of_the_gateway.map(|file| lines(std::fs::read_to_string(file.path()).unwrap())).sum()
}

/// Waits until the gateway has logged it; meanwhile every new user gets v2.
async fn until_said(lab: &Lab, env: &ShopEnv, words: &str) {
    lab.until(&format!("'{words}' in the log of the gateway of {}", env.namespace), async || {
        let response = env.user().navigate("/").await.unwrap();
        assert_eq!((response.status, response.header("x-shop-version")), (200, Some("v2")));
        (said(lab, env, words) > 0).then_some(())
    })
    .await
    .unwrap();
}

/// Waits until the gateway has refused more configurations than `before`; meanwhile every user gets 200.
async fn until_refused(lab: &Lab, env: &ShopEnv, before: usize) {
    lab.until(&format!("a refusal by the gateway of {}", env.namespace), async || {
        let response = env.user().navigate("/").await.unwrap();
        assert_eq!(response.status, 200, "{response:?}");
        (refused(lab, env) > before).then_some(())
    })
    .await
    .unwrap();
}
