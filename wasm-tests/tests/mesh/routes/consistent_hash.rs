//! A shop that was sticky before, by a `consistentHash` of its own: no cart is lost while a release is applied, used
//! and uninstalled.
//!
//! The pods keep carts in memory, and there are two of each version: a user who is sent to another pod has lost the
//! cart.

use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;
use crate::support::other_owner::{LEADING, to_shop};
use canary_operations::{Error, Protected};
use mesh_lab::Lab;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use wasm_tests::scenario::{Faults, HOST, Sessions};

const SESSIONS: usize = 60;

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn no_cart_is_lost_where_a_rule_of_the_same_host_made_the_shop_sticky() {
    in_the_mesh(async |lab| Box::pin(day(lab, "sticky-merged", json!({}))).await);
}

/// istiod merges no rules that are exported differently: the younger one replaces the other, with its own settings.
#[test]
fn no_cart_is_lost_where_our_rule_takes_the_place_of_the_one_that_made_the_shop_sticky() {
    in_the_mesh(async |lab| Box::pin(day(lab, "sticky-replaced", json!({"exportTo": ["*"]}))).await);
}

async fn day(lab: &Lab, name: &str, rule: Value) {
    let loaded = LoadedFixture::set_up(lab, name, |release| release.with("/spec/routes", "external")).await;
    scale(&loaded, 0).await;
    let mut rule = rule;
    let cookie = json!({"name": "shop-affinity", "path": "/", "ttl": "0s"});
    rule["trafficPolicy"] = json!({"loadBalancer": {"consistentHash": {"httpCookie": cookie}}});
    loaded.rule(name, None, rule).await;
    loaded.routes(HOST, to_shop(None)).await;
    loaded.answers(HOST).await;
    only_stable(&loaded).await;
    let mut before = begun(&loaded, 0..=0).await;
    assert_eq!(before.verify_all(false).await, Faults::default(), "sticky before");

    let moving = before.start_load(SESSIONS / 2);
    loaded.apply_although(LEADING).await.unwrap();
    loaded.routes(HOST, routes(name)).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(before.stop_load(moving).await.unwrap().but_closed(), Faults::default(), "at apply");
    assert_eq!(before.verify_all(false).await.but_closed(), Faults::default(), "after apply");

    scale(&loaded, 2).await;
    loaded.weigh("50").await;
    both_pods_of_the_canary(&loaded).await;
    let mut during = begun(&loaded, 1..=SESSIONS as u64 - 1).await;
    for sessions in [&mut before, &mut during] {
        assert_eq!(sessions.verify_all(true).await, Faults::default(), "at 50 %");
    }

    // Our subsets stay as long as their routes name them; all users are on stable by then.
    let moving = before.start_load(SESSIONS / 2);
    let refused = crate::support::release_fixture::uninstall(&loaded.cluster, &loaded.release).await;
    let Err(Error::Protected(found @ Protected::RoutedSubset { .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        found.to_string(),
        format!("VirtualService `theirs-{name}` leads to subset `v1` of DestinationRule {name}/shop-canary")
    );
    scale(&loaded, 0).await;
    loaded.routes(HOST, to_shop(None)).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    crate::support::release_fixture::uninstall(&loaded.cluster, &loaded.release).await.unwrap();
    assert_eq!(before.stop_load(moving).await.unwrap().but_closed(), Faults::default(), "at uninstall");
    assert_eq!(before.verify_all(false).await.but_closed(), Faults::default(), "after uninstall");
}

/// New sessions with carts; so many of them are on the canary.
async fn begun(loaded: &LoadedFixture<'_>, on_canary: std::ops::RangeInclusive<u64>) -> Sessions {
    let mut sessions = Sessions::default();
    let (count, faults) = sessions.open(loaded.users(SESSIONS)).await;
    assert_eq!(faults, Faults::default(), "new sessions");
    assert!(on_canary.contains(&count), "{count} of {SESSIONS} on the canary");
    sessions
}

async fn scale(loaded: &LoadedFixture<'_>, replicas: usize) {
    let namespace = loaded.env.namespace.as_str();
    loaded.lab.scale(namespace, "shop-v2", replicas).await.unwrap();
    loaded
        .lab
        .until("the canary's pods", async || {
            let pods = loaded.lab.pods(namespace, "app=shop,version=v2").await.ok()?;
            (pods.len() == replicas).then_some(())
        })
        .await
        .unwrap();
    if replicas > 0 {
        loaded.lab.rolled_out(namespace, "shop-v2").await.unwrap();
    }
}

/// Returns when the gateway runs a configuration without a canary.
async fn only_stable(loaded: &LoadedFixture<'_>) {
    loaded
        .lab
        .until("an end of the canary's endpoints", async || {
            for _ in 0..20 {
                let response = loaded.user_at(HOST).navigate("/").await.ok()?;
                (response.header("x-shop-version") == Some("v1")).then_some(())?;
            }
            Some(())
        })
        .await
        .unwrap();
}

/// Returns when the gateway has sent new users to two pods of the canary. One that comes later moves users by itself: the hash is
/// over the pods that the gateway knows.
async fn both_pods_of_the_canary(loaded: &LoadedFixture<'_>) {
    let mut seen = BTreeSet::new();
    loaded
        .lab
        .until("new users on both pods of the canary", async || {
            let response = loaded.user_at(HOST).navigate("/").await.ok()?;
            if response.header("x-shop-version") == Some("v2") {
                seen.extend(response.header("x-shop-pod").map(str::to_owned));
            }
            (seen.len() == 2).then_some(())
        })
        .await
        .unwrap();
}

/// What `generate` prints for the owner of the routes.
fn routes(namespace: &str) -> Value {
    let to = |version: &str| json!([{"destination": {"host": "shop", "subset": version}}]);
    let by_header = |version: &str| {
        let header = json!({"x-canary-version": {"exact": format!("{namespace}/shop/{version}")}});
        json!({"match": [{"headers": header}], "route": to(version)})
    };
    json!([by_header("v1"), by_header("v2"), {"route": to("v1")}])
}
