//! Routes of the Gateway API that somebody else writes.

use canary_operations::Error;
use canary_release::preflight::PreflightCheck;
use fake_api_server::fixture::{SHOP, apply_skipping, create_service, release, run, set_weight, shop};
use serde_json::{Value, json};

/// A rule by the header of `v2`, and one for everything else.
fn http_route(canary: &str, stable: &str) -> Value {
    let header = json!({"name": "x-canary-version", "value": "shop/shop/v2"});
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
    "metadata": {"name": "shop", "namespace": SHOP},
    "spec": {"parentRefs": [{"kind": "ListenerSet", "name": "all"}], "rules": [
        {"matches": [{"headers": [header]}], "backendRefs": [{"name": canary, "port": 80}]},
        {"backendRefs": [{"name": stable, "port": 80}]},
    ]}})
}

#[test]
fn a_weight_needs_a_rule_that_leads_to_the_service_of_the_canary() {
    run(async {
        let (api, release) = (shop(), release(&json!({"routes": "external"})));
        let cluster = api.cluster().await;
        apply_skipping(&cluster, &release, &[PreflightCheck::NoRoutes]).await.unwrap();
        for routes in [None, Some(http_route("shop", "shop-v1"))] {
            if let Some(route) = &routes {
                api.state().create(route);
            }
            match set_weight(&cluster, &release, "10").await {
                Err(Error::Preflight(failed)) => assert!(
                    failed.to_string().starts_with(
                        "no VirtualService, HTTPRoute or GRPCRoute leads to version `v2` by the filter's header"
                    ),
                    "{failed}"
                ),
                other => panic!("expected a refusal with {routes:?}, found {other:?}"),
            }
        }
        api.state().store.remove("HTTPRoute", "shop");
        api.state().create(&http_route("shop-v2", "shop-v1"));
        // Requests to a Service that does not exist, or to a port that it does not have, are answered with 5xx.
        let refused = async |expected: &str| match set_weight(&cluster, &release, "10").await {
            Err(Error::Preflight(failed)) => assert_eq!(failed.to_string(), expected),
            other => panic!("expected `{expected}`, found {other:?}"),
        };
        let text = "expected a port of Service `shop-v2` in the routes of HTTPRoute shop/shop to `v2`, found 80; its ports:";
        refused(&format!("{text} none")).await;
        create_service(&api, "shop-v2");
        api.state().store.edit("Service", "shop-v2", |service| {
            service["spec"]["ports"][0]["port"] = json!(8080);
            service["spec"]["selector"] = json!({"app": "shop", "version": "v2"});
        });
        refused(&format!("{text} 8080")).await;
        api.state()
            .store
            .edit("Service", "shop-v2", |service| service["spec"]["ports"][0]["port"] = json!(80));
        set_weight(&cluster, &release, "10").await.unwrap();
    });
}

#[test]
fn a_rule_that_leads_to_every_version_bypasses_the_release() {
    run(async {
        let (api, release) = (shop(), release(&json!({"routes": "external"})));
        let cluster = api.cluster().await;
        apply_skipping(&cluster, &release, &[PreflightCheck::NoRoutes]).await.unwrap();
        let gaps = async || {
            let record = cluster.get_record(&release.name).await.unwrap().record;
            let coverage = cluster.coverage(&release.name, &record, &[]).await.unwrap();
            coverage.gaps.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        api.state().create(&http_route("shop-v2", "shop-v1"));
        assert_eq!(gaps().await, [""; 0]);
        api.state().store.remove("HTTPRoute", "shop");
        api.state().create(&http_route("shop-v2", "shop"));
        assert_eq!(gaps().await, ["HTTPRoute shop/shop leads to the Service, and not to that of a version"]);
        api.state().access.deny("list", "httproutes");
        assert_eq!(gaps().await, [""; 0], "what may not be read is not seen");
    });
}

#[test]
fn a_grpc_route_to_the_service_of_the_canary_counts_as_one_of_http_does() {
    run(async {
        let (api, release) = (shop(), release(&json!({"routes": "external"})));
        let cluster = api.cluster().await;
        apply_skipping(&cluster, &release, &[PreflightCheck::NoRoutes]).await.unwrap();
        create_service(&api, "shop-v2");
        api.state().store.edit("Service", "shop-v2", |service| {
            service["spec"]["selector"] = json!({"app": "shop", "version": "v2"});
        });
        let mut route = http_route("shop-v2", "shop-v1");
        route["kind"] = json!("GRPCRoute");
        api.state().create(&route);
        set_weight(&cluster, &release, "10").await.unwrap();
    });
}
