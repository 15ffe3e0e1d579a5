//! A shop that was sticky before, by a `consistentHash` of its own: no cart is lost while a release comes, lives and goes.
//!
//! The pods keep carts in memory, and there are two of each version: whoever is answered by another pod has lost a cart.

use super::rules::{LEADING, to_shop};
use super::scene::Scene;
use crate::support::in_the_mesh;
use canary_ctl::cluster::Error;
use serde_json::{Value, json};
use wasm_tests::lab::Lab;
use wasm_tests::scenario::{Faults, HOST, Sessions};

const SESSIONS: usize = 60;

#[test]
fn no_cart_is_lost_where_a_rule_of_the_same_host_made_the_shop_sticky() {
    in_the_mesh(async |lab| day(lab, "sticky-merged", json!({})).await);
}

/// istiod merges no rules that are exported differently: the younger one takes the other's place, with what it says itself.
#[test]
fn no_cart_is_lost_where_our_rule_takes_the_place_of_the_one_that_made_the_shop_sticky() {
    in_the_mesh(async |lab| day(lab, "sticky-replaced", json!({"exportTo": ["*"]})).await);
}

async fn day(lab: &Lab, name: &str, rule: Value) {
    let scene = Scene::set_up(lab, name, |release| release.with("/spec/routes", "external")).await;
    scale(&scene, 0).await;
    let mut rule = rule;
    let cookie = json!({"name": "shop-affinity", "path": "/", "ttl": "0s"});
    rule["trafficPolicy"] = json!({"loadBalancer": {"consistentHash": {"httpCookie": cookie}}});
    scene.rule(name, None, rule).await;
    scene.routes(HOST, to_shop(None)).await;
    scene.answers(HOST).await;
    only_stable(&scene).await;
    let mut before = begun(&scene, 0..=0).await;
    assert_eq!(before.come_back(false).await, Faults::default(), "sticky before");

    let moving = before.set_out(SESSIONS / 2);
    scene.apply_although(LEADING).await.unwrap();
    scene.routes(HOST, routes(name)).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(before.settle(moving).await.unwrap().but_closed(), Faults::default(), "at apply");
    assert_eq!(before.come_back(false).await.but_closed(), Faults::default(), "after apply");

    scale(&scene, 2).await;
    scene.weigh("50").await;
    let mut during = begun(&scene, 1..=SESSIONS as u64 - 1).await;
    for sessions in [&mut before, &mut during] {
        assert_eq!(sessions.come_back(true).await, Faults::default(), "at 50 %");
    }

    // As long as their routes name our subsets these stay; everybody is on stable by then.
    let moving = before.set_out(SESSIONS / 2);
    let refused = super::desk::uninstall(&scene.cluster, &scene.release).await;
    let Err(Error::Protected { message, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(
        message,
        format!("VirtualService `theirs-{name}` leads to subset `v1` of DestinationRule {name}/shop-canary")
    );
    scale(&scene, 0).await;
    scene.routes(HOST, to_shop(None)).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    super::desk::uninstall(&scene.cluster, &scene.release).await.unwrap();
    assert_eq!(before.settle(moving).await.unwrap().but_closed(), Faults::default(), "at uninstall");
    assert_eq!(before.come_back(false).await.but_closed(), Faults::default(), "after uninstall");
}

/// New sessions with carts; so many of them are on the canary.
async fn begun(scene: &Scene<'_>, on_canary: std::ops::RangeInclusive<u64>) -> Sessions {
    let mut sessions = Sessions::default();
    let (count, faults) = sessions.begin(scene.users(SESSIONS)).await;
    assert_eq!(faults, Faults::default(), "new sessions");
    assert!(on_canary.contains(&count), "{count} of {SESSIONS} on the canary");
    sessions
}

async fn scale(scene: &Scene<'_>, replicas: usize) {
    let namespace = scene.stage.namespace.as_str();
    let replicas_flag = format!("--replicas={replicas}");
    scene.lab.kubectl(&["scale", "-n", namespace, "deployment/shop-v2", &replicas_flag]).await.unwrap();
    scene
        .lab
        .until("the canary's pods", async || {
            let pods = scene.lab.pods(namespace, "app=shop,version=v2").await.ok()?;
            (pods.len() == replicas).then_some(())
        })
        .await
        .unwrap();
    if replicas > 0 {
        scene.lab.rolled_out(namespace, "deployment/shop-v2").await.unwrap();
    }
}

/// Returns when the gateway knows that there is no canary.
async fn only_stable(scene: &Scene<'_>) {
    scene
        .lab
        .until("an end of the canary's endpoints", async || {
            for _ in 0..20 {
                let answer = scene.user_at(HOST).navigate("/").await.ok()?;
                (answer.header("x-shop-version") == Some("v1")).then_some(())?;
            }
            Some(())
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
