//! Objects with `routes: gateway-api`: the release has routes beside the `HTTPRoute` of another owner.

use crate::object::Fixture;
use canary_controller::{Removal, remove};
use fake_api_server::State;
use fake_api_server::fixture::run;
use serde_json::{Value, json};

/// The paths that our routes match.
fn paths(state: &State) -> Vec<Value> {
    let ours = state.store.of_kind("HTTPRoute").filter(|route| route["metadata"]["name"] != "site");
    let rules = ours.flat_map(|route| route["spec"]["rules"].as_array().unwrap());
    rules.map(|rule| rule["matches"][0]["path"]["value"].clone()).collect()
}

#[test]
fn an_edit_of_the_owners_route_is_followed() {
    run(async {
        let fixture = Fixture::beside_http_route(&json!({"rollout": null}));
        let cluster = fixture.api.cluster().await;
        let reconciler = fixture.reconciler(&cluster, "replica");
        fixture.reconcile(&reconciler).await;
        assert!(paths(&fixture.api.state()).contains(&json!("/cart")), "{:#?}", fixture.status());
        fixture.api.state().edit_as("argocd", "HTTPRoute", "site", |route| {
            route["spec"]["rules"][0]["matches"][0]["path"]["value"] = json!("/basket");
        });
        let edited = fixture.api.state().store.find("HTTPRoute", "site").unwrap().clone();
        assert_eq!(reconciler.affected(&edited), ["shop/shop".parse().unwrap()]);
        let mut elsewhere = edited.clone();
        elsewhere["metadata"]["namespace"] = json!("blog");
        assert_eq!(reconciler.affected(&elsewhere), [], "it leads to a Service of its own namespace");
        elsewhere["spec"]["rules"][0]["backendRefs"][0]["namespace"] = json!("shop");
        assert_eq!(
            reconciler.affected(&elsewhere),
            ["shop/shop".parse().unwrap()],
            "it may lead to the release"
        );
        let mut calls = edited.clone();
        calls["kind"] = json!("GRPCRoute");
        assert_eq!(reconciler.affected(&calls), ["shop/shop".parse().unwrap()], "a route of another kind");
        fixture.reconcile(&reconciler).await;
        let paths = paths(&fixture.api.state());
        assert!(paths.contains(&json!("/basket")) && !paths.contains(&json!("/cart")), "{paths:?}");
        assert_eq!(fixture.api.state().store.find("HTTPRoute", "site"), Some(&edited), "it is its owner's");
    });
}

#[test]
fn a_good_canary_is_promoted_and_a_deleted_object_leaves_the_owners_route_alone() {
    run(async {
        let mut fixture = Fixture::beside_http_route(&json!({}));
        let before = fixture.api.state().store.find("HTTPRoute", "site").unwrap().clone();
        fixture.reconcile_until("Promoted", "True").await;
        let cluster = fixture.api.cluster().await;
        fixture.api.state().store.remove("Release", "shop");
        fixture.api.state().store.remove("Pod", "shop-v1");
        let removal = remove(&cluster, &"shop/shop".parse().unwrap()).await.unwrap();
        assert!(matches!(removal, Removal::Waits(_)), "the Service selects v1 alone: {removal:?}");
        fixture.api.state().store.edit("Service", "shop", |service| {
            service["spec"]["selector"]["version"] = json!("v2");
        });
        let removal = remove(&cluster, &"shop/shop".parse().unwrap()).await.unwrap();
        assert!(matches!(removal, Removal::Uninstalled), "{removal:?}");
        let left = fixture.api.state().store.names(&["EnvoyFilter", "HTTPRoute", "Service"]);
        assert_eq!(left, ["Service shop", "HTTPRoute site"]);
        assert_eq!(fixture.api.state().store.find("HTTPRoute", "site"), Some(&before));
    });
}
