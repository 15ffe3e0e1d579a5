//! Routes that other owners have put into their objects: the ports that they name, and objects of other namespaces.

use canary_operations::Error;
use canary_release::preflight::PreflightCheck;
use fake_api_server::fixture::{apply, apply_skipping, create_service, release, run, set_weight, shop};
use serde_json::{Value, json};

/// A `VirtualService` of the shop's namespace with our routes for both versions, to this port.
fn pasted(port: Option<u16>) -> Value {
    let route = |version: &str, port: Option<u16>| {
        let mut destination = json!({"host": "shop", "subset": version});
        if let Some(number) = port {
            destination["port"] = json!({"number": number});
        }
        json!({"match": [{"headers": {"x-canary-version": {"exact": format!("shop/shop/{version}")}}}],
            "route": [{"destination": destination}]})
    };
    json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"hosts": ["shop.example.com"], "gateways": ["ingress/gateway"],
            "http": [route("v1", port), route("v2", port)]}})
}

#[test]
fn external_routes_to_a_port_that_the_service_does_not_have_get_no_users() {
    run(async {
        let (api, release) = (shop(), release(&json!({"routes": "external"})));
        api.state().store.edit("Service", "shop", |service| {
            service["spec"]["ports"] = json!([{"name": "http", "port": 8080}]);
        });
        let cluster = api.cluster().await;
        let expected = "expected port 80 of Service `shop`, found 8080";
        match apply(&cluster, &release).await {
            Err(Error::Preflight(failed)) => assert_eq!(failed.to_string(), expected),
            other => panic!("expected a refusal, found {other:?}"),
        }
        let mut release = release;
        release.service.port = 8080;
        apply(&cluster, &release).await.unwrap();
        api.state().create(&pasted(Some(80)));
        let expected =
            "expected port 8080 of Service `shop` in the routes of VirtualService shop/web to `v2`, found 80";
        match set_weight(&cluster, &release, "10").await {
            Err(Error::Preflight(failed)) => {
                assert_eq!(
                    (failed.check, failed.to_string()),
                    (PreflightCheck::NoServicePort, expected.to_owned())
                );
            }
            other => panic!("expected a refusal, found {other:?}"),
        }
        for port in [Some(8080), None] {
            api.state()
                .store
                .edit("VirtualService", "web", |object| object["spec"] = pasted(port)["spec"].clone());
            set_weight(&cluster, &release, "10").await.unwrap();
            set_weight(&cluster, &release, "0").await.unwrap();
        }
    });
}

/// An older route object of another namespace for the same host, which takes every request.
fn catch_all(export_to: &Value) -> Value {
    json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": {"name": "site", "namespace": "web", "creationTimestamp": "2020-01-01T00:00:00Z"},
        "spec": {"hosts": ["shop.example.com"], "gateways": ["ingress/gateway"], "exportTo": export_to,
            "http": [{"route": [{"destination": {"host": "site"}}]}]}})
}

#[test]
fn an_older_route_object_of_another_namespace_that_takes_the_host_is_refused() {
    run(async {
        for (export_to, is_refused) in
            [(json!([]), true), (json!(["*"]), true), (json!(["ingress"]), true), (json!(["."]), false)]
        {
            let (api, release) = (shop(), release(&Value::Null));
            api.state().create(&catch_all(&export_to));
            let cluster = api.cluster().await;
            let applied = apply(&cluster, &release).await.map(drop).map_err(|error| error.to_string());
            let text = format!("{applied:?}");
            assert_eq!(text.contains("VirtualService web/site"), is_refused, "{export_to}: {text}");
            assert_eq!(applied.is_err(), is_refused, "{export_to}: {text}");
        }
        let (api, release) = (shop(), release(&Value::Null));
        api.state().create(&catch_all(&json!([])));
        api.state().access.deny_lists_of_all("virtualservices");
        apply(&api.cluster().await, &release).await.unwrap();
    });
}

#[test]
fn an_http_route_of_another_namespace_leads_to_a_version_or_past_the_release() {
    run(async {
        let (api, release) = (shop(), release(&json!({"routes": "external"})));
        let cluster = api.cluster().await;
        apply_skipping(&cluster, &release, &[PreflightCheck::NoRoutes]).await.unwrap();
        let header = json!({"name": "x-canary-version", "value": "shop/shop/v2"});
        let route = |backend: &str| {
            json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
                "metadata": {"name": "edge", "namespace": "web"},
                "spec": {"rules": [{"matches": [{"headers": [header]}],
                    "backendRefs": [{"name": backend, "namespace": "shop", "port": 80}]}]}})
        };
        let refused = set_weight(&cluster, &release, "10").await;
        assert!(matches!(refused, Err(Error::Preflight(_))), "{refused:?}");
        create_service(&api, "shop-v2");
        api.state().create(&route("shop-v2"));
        set_weight(&cluster, &release, "10").await.unwrap();
        api.state().store.remove("HTTPRoute", "edge");
        api.state().create(&route("shop"));
        let record = cluster.get_record(&release.name).await.unwrap().record;
        let coverage = cluster.coverage(&release.name, &record, &[]).await.unwrap();
        let gaps: Vec<_> = coverage.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, ["HTTPRoute web/edge leads to the Service, and not to that of a version"]);
    });
}
