//! A route to the canary is never there without the filter that keeps clients from naming it (promise 6).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use browser::{Kind, Visit};
use canary_operations::{Access, ApplyOptions, Cluster, WaitOptions, WriteOptions};
use canary_release::file::parse;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::release_fixture::uninstall;

/// The pause between two attempts of the attacker.
const PAUSE: Duration = Duration::from_millis(2);
/// Requests that name the canary, one after the other.
const ATTACKS: u32 = 20;

#[test]
fn no_client_reaches_the_canary_by_a_header_while_a_release_is_applied_and_uninstalled() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "guarded", &ShopEnvOptions::gateway()).await.unwrap();
        // A request that reaches the canary's subset gets 503 from Envoy: the subset has no pod.
        lab.scale(&env.namespace, "shop-v2", 0).await.unwrap();
        lab.until("an end of the canary's pods", async || {
            lab.pods(&env.namespace, "app=shop,version=v2").await.ok()?.is_empty().then_some(())
        })
        .await
        .unwrap();

        let document = env.release().unwrap().with("/spec/weight", "0");
        let release = parse(Path::new("canary.yaml"), &document.text()).unwrap().release;
        let access = Access { kubeconfig: Some(lab.kubeconfig("admin").unwrap()), ..Access::default() };
        let cluster = Cluster::connect(&access, WriteOptions::default()).await.unwrap();
        let done = Cell::new(false);
        let operate = async {
            for _ in 0..3 {
                let waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut |_, _| {} };
                let how = ApplyOptions { waiting, wait: true, skipped: &[], allow_rolled_back: false };
                cluster.apply(&release, how).await.unwrap();
                lab.until("the way to the shop", async || {
                    env.user().navigate("/").await.is_ok_and(|response| response.status == 200).then_some(())
                })
                .await
                .unwrap();
                uninstall(&cluster, &release).await.unwrap();
            }
            done.set(true);
        };
        let ((), responses) = tokio::join!(operate, forge(&env, document.name(), &done));
        eprintln!("forged requests by status and version: {responses:?}");
        let allowed = [(404, None), (200, Some("v1".to_owned()))];
        assert!(responses.keys().all(|response| allowed.contains(response)), "{responses:?}");
        assert!(allowed.iter().all(|response| responses.contains_key(response)), "{responses:?}");
    });
}

/// Names the canary in a new connection every time, and counts the responses.
async fn forge(env: &ShopEnv, release: &str, done: &Cell<bool>) -> BTreeMap<(u16, Option<String>), u32> {
    let visit = Visit::new(Kind::Api, "/").header("x-canary-version", format!("{release}/v2"));
    let mut responses = BTreeMap::new();
    while !done.get() {
        let response = env.user().send(&visit).await.unwrap();
        let version = response.header("x-shop-version").map(str::to_owned);
        *responses.entry((response.status, version)).or_default() += 1;
        tokio::time::sleep(PAUSE).await;
    }
    responses
}

/// Envoy keeps the listener of a filter that was deleted until it is drained, with its gauge and its subscription.
#[test]
fn a_filter_that_was_deleted_is_reported_at_once_and_an_apply_returns_when_the_new_one_decides() {
    in_the_mesh(async |lab| {
        let env = ShopEnv::set_up(lab, "unguarded", &ShopEnvOptions::gateway()).await.unwrap();
        let document = env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let cli = Cli::new(lab, &document);
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        let attack = || attack(&env, document.name());
        assert_eq!(attack().await, only("v1"), "while the filter is installed");

        let filter = lab.kubectl(&["get", "envoyfilters", "-n", &env.ingress, "-o", "name"]).await.unwrap();
        let filter = filter.lines().find(|name| name.ends_with("-filter")).expect("the filter's object");
        lab.kubectl(&["delete", "-n", &env.ingress, filter]).await.unwrap();
        let missing = "found no such object";
        cli.expect("status", 0, &[missing, "canary-ctl apply"]).await;
        cli.expect("weight 20 --wait", 2, &[missing, "--skip-check no-filter"]).await;
        // Until the gateway has lost it: else what follows would be answered by the filter of before.
        lab.until("the filter's end", async || (attack().await != only("v1")).then_some(())).await.unwrap();
        cli.expect("apply --wait", 0, &["active in 1 proxy"]).await;
        assert_eq!(attack().await, only("v1"), "at the moment at which apply returns");

        cli.expect("uninstall --skip-check moves-users", 0, &["taken off the cluster"]).await;
        cli.expect("apply --wait --skip-check moves-users", 0, &["active in 1 proxy"]).await;
        assert_eq!(attack().await, only("v1"), "after a reinstallation");
        cli.expect("status", 0, &["weight 0%, generation 1", "1 of 1 proxies run it"]).await;
    });
}

/// Names the canary in connections of its own, and counts the versions that respond.
async fn attack(env: &ShopEnv, release: &str) -> BTreeMap<String, u32> {
    let visit = Visit::new(Kind::Api, "/").header("x-canary-version", format!("{release}/v2"));
    let mut versions = BTreeMap::new();
    for _ in 0..ATTACKS {
        let response = env.user().send(&visit).await.unwrap();
        let version = response.header("x-shop-version").unwrap_or("none").to_owned();
        *versions.entry(version).or_default() += 1;
    }
    versions
}

fn only(version: &str) -> BTreeMap<String, u32> {
    BTreeMap::from([(version.to_owned(), ATTACKS)])
}
