//! Routes of our own beside those of another namespace: they are in that of the Service.

use crate::beside_http_routes::{faults, said, targets, value};
use crate::make_before_break::watched;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{
    SHOP, apply, release_beside_http_routes, roll_back, run, set_weight, shop_with_http_route, uninstall,
};
use serde_json::{Value, json};

/// The shop with the owner's route in namespace `web`, and what its namespace grants.
fn shop_with_far_route(grants: &[Value]) -> FakeApi {
    let api = shop_with_http_route();
    let mut route = api.state().store.find("HTTPRoute", "site").unwrap().clone();
    route["metadata"] = json!({"name": "far", "namespace": "web"});
    for rule in route["spec"]["rules"].as_array_mut().unwrap() {
        rule["backendRefs"][0]["namespace"] = json!(SHOP);
    }
    api.state().store.remove("HTTPRoute", "site");
    api.state().create(&route);
    for grant in grants {
        api.state().create(grant);
    }
    api
}

fn grant(kind: &str) -> Value {
    json!({"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
        "metadata": {"name": "web", "namespace": SHOP},
        "spec": {"from": [{"group": "gateway.networking.k8s.io", "kind": kind, "namespace": "web"}],
            "to": [{"group": "", "kind": "Service", "name": "shop"}]}})
}

/// Namespaces and names of routes.
fn places(api: &FakeApi) -> Vec<String> {
    let state = api.state();
    let routes = state.store.of_kind("HTTPRoute").map(|route| &route["metadata"]);
    routes
        .map(|metadata| format!("{}/{}", metadata["namespace"], metadata["name"]).replace('"', ""))
        .collect()
}

async fn refused(api: &FakeApi) -> String {
    let refused = apply(&api.cluster().await, &release_beside_http_routes(&json!({}))).await;
    assert_eq!(api.state().store.names(&["ConfigMap", "EnvoyFilter"]), [""; 0], "before the first write");
    refused.unwrap_err().to_string()
}

#[test]
fn nothing_is_written_in_the_namespace_of_the_route() {
    run(async {
        let api = shop_with_far_route(&[grant("HTTPRoute")]);
        let release = release_beside_http_routes(&json!({"weight": 10}));
        let cluster = api.cluster().await;
        let found = watched(&api, faults);
        apply(&cluster, &release).await.unwrap();
        assert_eq!(places(&api), ["shop/shop-canary.v1-00", "shop/shop-canary.v2-00", "web/far"]);
        {
            let state = api.state();
            assert_eq!(targets(&state, &value(&state, "v2")), ["shop-v2"; 2]);
        }
        assert_eq!(said(&cluster, &release).await, [""; 0]);
        api.state().store.edit("HTTPRoute", "far", |route| {
            route["spec"]["rules"][0]["matches"][0]["path"]["value"] = json!("/basket");
        });
        let problems = said(&cluster, &release).await;
        assert!(problems.iter().any(|problem| problem.contains("former settings")), "{problems:?}");
        apply(&cluster, &release).await.unwrap();
        set_weight(&cluster, &release, "20").await.unwrap();
        roll_back(&cluster, &release).await.unwrap();
        assert_eq!(places(&api), ["shop/shop-canary.v1-00", "web/far"]);
        api.state().store.remove("Pod", "shop-v2");
        uninstall(&cluster, &release).await.unwrap();
        assert_eq!(*found.lock().unwrap(), Vec::<String>::new());
        assert_eq!(places(&api), ["web/far"]);
    });
}

#[test]
fn a_route_without_a_grant_is_none_and_the_grant_is_named_where_there_is_no_other() {
    run(async {
        let expected = "expected an HTTPRoute or a GRPCRoute at a Gateway of the release that leads to Service `shop`, found none; \
            HTTPRoute web/far would, and no ReferenceGrant in the namespace of the Service lets it: `from` its kind and namespace, \
            `to` Service `shop`";
        for grants in [&[][..], &[grant("GRPCRoute")]] {
            assert_eq!(refused(&shop_with_far_route(grants)).await, expected);
        }
        // Beside a route of the release's namespace it changes nothing: a tenant without a grant cannot stop a release.
        let api = shop_with_far_route(&[]);
        let mut own = api.state().store.find("HTTPRoute", "far").unwrap().clone();
        own["metadata"] = json!({"name": "site", "namespace": SHOP});
        own["spec"]["hostnames"] = json!(["own.example.com"]);
        api.state().create(&own);
        apply(&api.cluster().await, &release_beside_http_routes(&json!({}))).await.unwrap();
        let ours = api.state().store.find("HTTPRoute", "shop-canary.v2-00").unwrap().clone();
        assert_eq!(ours["spec"]["hostnames"], json!(["own.example.com"]));
        // Where grants may not be read, the route's owner is believed.
        let api = shop_with_far_route(&[]);
        api.state().access.deny("list", "referencegrants");
        apply(&api.cluster().await, &release_beside_http_routes(&json!({}))).await.unwrap();
    });
}

#[test]
fn a_grant_that_is_taken_away_ends_no_rollback() {
    run(async {
        let api = shop_with_far_route(&[grant("HTTPRoute")]);
        let release = release_beside_http_routes(&json!({"weight": 10}));
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        api.state().store.remove("ReferenceGrant", "web");
        let refused = apply(&cluster, &release).await.unwrap_err().to_string();
        assert!(refused.contains("no ReferenceGrant"), "{refused}");
        set_weight(&cluster, &release, "0").await.unwrap();
        roll_back(&cluster, &release).await.unwrap();
    });
}

#[test]
fn a_listener_that_admits_the_routes_namespace_alone_is_named() {
    run(async {
        let select = |team: &str, namespaces: &[&str]| {
            let api = shop_with_far_route(&[grant("HTTPRoute")]);
            for name in namespaces {
                api.state().create(&json!({"apiVersion": "v1", "kind": "Namespace",
                    "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name, "both": "yes"}}}));
            }
            let labels = match team {
                "both" => json!({"both": "yes"}),
                name => json!({"kubernetes.io/metadata.name": name}),
            };
            api.state().store.edit("Gateway", "edge", |gateway| {
                gateway["spec"]["listeners"][0]["allowedRoutes"] =
                    json!({"namespaces": {"from": "Selector", "selector": {"matchLabels": labels}}});
            });
            api
        };
        let closed = "`allowedRoutes` of listener `https` of Gateway ingress/edge admits `spec.rules[0]` of HTTPRoute web/far, and no HTTPRoute \
            of namespace `shop`";
        let both = [SHOP, "web"];
        let found = refused(&select("web", &both)).await;
        assert!(found.contains(closed), "{found}");
        // Not attached, it is not repeated: the Service's namespace lends its right to attach to no other.
        assert!(refused(&select("shop", &both)).await.contains("found none"));
        apply(&select("both", &both).cluster().await, &release_beside_http_routes(&json!({}))).await.unwrap();
        assert!(refused(&select("both", &[])).await.contains(closed), "labels that cannot be read");
    });
}
