//! Routes that other owners have put into their objects: the ports that they name, and objects of other namespaces.

use canary_operations::Error;
use canary_release::doctor::findings;
use canary_release::preflight::PreflightCheck;
use fake_api_server::fixture::{apply, apply_skipping, release, run, set_weight, shop};
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
                "spec": {"parentRefs": [{"kind": "ListenerSet", "name": "all"}], "rules": [{"matches": [{"headers": [header]}],
                    "backendRefs": [{"name": backend, "namespace": "shop", "port": 80}]}]}})
        };
        let refused = set_weight(&cluster, &release, "10").await;
        assert!(matches!(refused, Err(Error::Preflight(_))), "{refused:?}");
        api.state().create(&service("shop-v2", &json!({"app": "shop", "version": "v2"})));
        api.state().create(&route("shop-v2"));
        match set_weight(&cluster, &release, "10").await {
            Err(Error::Preflight(failed)) => {
                assert!(failed.to_string().contains("no ReferenceGrant"), "{failed}");
            }
            other => panic!("expected a refusal, found {other:?}"),
        }
        api.state().create(&json!({"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
            "metadata": {"name": "edge", "namespace": "shop"},
            "spec": {"from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "web"}],
                "to": [{"group": "", "kind": "Service"}]}}));
        set_weight(&cluster, &release, "10").await.unwrap();
        api.state().store.remove("HTTPRoute", "edge");
        api.state().create(&route("shop"));
        let record = cluster.get_record(&release.name).await.unwrap().record;
        let coverage = cluster.coverage(&release.name, &record, &[]).await.unwrap();
        let gaps: Vec<_> = coverage.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, ["HTTPRoute web/edge leads to the Service, and not to that of a version"]);
    });
}

/// Whether `weight` goes, and else its message; the same objects must make `status` and `doctor` say it.
async fn routed(objects: &[Value]) -> Result<(), String> {
    let (api, release) = (shop(), release(&json!({"routes": "external"})));
    let cluster = api.cluster().await;
    apply(&cluster, &release).await.unwrap();
    for object in objects {
        api.state().create(object);
    }
    let weighed = set_weight(&cluster, &release, "10").await.map_err(|error| error.to_string());
    let stored = cluster.get_record(&release.name).await.unwrap();
    let observed = cluster.observe_status(&release.name, &stored).await.unwrap();
    assert_eq!(observed.is_routed, Some(weighed.is_ok()), "status of {objects:?}");
    let diagnosis = cluster.diagnose(&release).await;
    let found = findings(&release, &diagnosis.examination);
    let said = found.iter().find(|finding| finding.id() == "no-routes").map(ToString::to_string);
    let expected = weighed.clone().err().filter(|error| error.contains(": "));
    // A rule that cannot be merged with ours is an error of its own.
    assert!(said == expected || !diagnosis.errors.is_empty(), "doctor of {objects:?}: {said:?}");
    weighed
}

fn put(object: &mut Value, changes: &[(&str, Value)]) {
    for (path, value) in changes {
        let (parent, field) = path.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap();
        match field.parse::<usize>() {
            Ok(index) => parent[index] = value.clone(),
            Err(_) => parent[field] = value.clone(),
        }
    }
}

/// A `VirtualService` that leads by the header to `v2`, and everything else to `v1`, with changes by JSON pointers.
fn changed(changes: &[(&str, Value)]) -> Value {
    let mut object = pasted(None);
    object["spec"]["http"] = json!([
        {"match": [{"headers": {"x-canary-version": {"exact": "shop/shop/v2"}}}],
            "route": [{"destination": {"host": "shop", "subset": "v2"}}]},
        {"route": [{"destination": {"host": "shop", "subset": "v1"}}]},
    ]);
    put(&mut object, changes);
    object
}

/// A Service of the namespace with these labels as its selector.
fn service(name: &str, selector: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": selector, "ports": [{"name": "http", "port": 80}]}})
}

fn http_route(changes: &[(&str, Value)]) -> Value {
    let header = json!({"name": "x-canary-version", "value": "shop/shop/v2"});
    let mut object = json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"parentRefs": [{"namespace": "ingress", "name": "edge"}], "hostnames": ["shop.example.com"], "rules": [
        {"matches": [{"headers": [header]}], "backendRefs": [{"name": "shop-v2", "port": 80}]},
        {"backendRefs": [{"name": "shop-v1", "port": 80}]},
    ]}});
    put(&mut object, changes);
    object
}

fn gateway_of(name: &str, selector: &Value) -> Value {
    json!({"apiVersion": "networking.istio.io/v1", "kind": "Gateway", "metadata": {"name": name, "namespace": "ingress"},
        "spec": {"selector": selector, "servers": [{"port": {"number": 443, "name": "web", "protocol": "HTTPS"}, "hosts": ["*"]}]}})
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_version_has_an_external_route_only_where_it_leads_its_users_to_its_pods() {
    let header = |value: &str| json!({"headers": {"x-canary-version": {"exact": value}}});
    let rule = |subsets: Value| {
        json!({"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "metadata": {"name": "own", "namespace": "ingress"},
            "spec": {"host": "shop.shop.svc.cluster.local", "subsets": subsets}})
    };
    let to = |host: &str| json!([{"destination": {"host": host}}]);
    let v2 = json!({"app": "shop", "version": "v2"});
    let edge = || {
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "edge", "namespace": "ingress"},
        "spec": {"addresses": [{"type": "Hostname", "value": "gateway.ingress.svc"}], "listeners": [{"name": "https", "port": 443, "protocol": "HTTPS"}]}})
    };
    let edge_service = || {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "gateway", "namespace": "ingress"},
        "spec": {"selector": {"istio": "gateway"}, "ports": [{"port": 443}]}})
    };
    let split = |weight: u64| {
        json!([{"destination": {"host": "shop", "subset": "v2"}, "weight": 100 - weight},
            {"destination": {"host": "shop", "subset": "v1"}, "weight": weight}])
    };
    let delegated = |http: Value| {
        let mut root =
            changed(&[("/metadata/name", json!("root")), ("/metadata/namespace", json!("ingress"))]);
        root["spec"]["http"] = http;
        root
    };
    let delegate = || changed(&[("/spec/hosts", json!([])), ("/spec/gateways", json!([]))]);
    let gateway_api =
        |route: Value, of_v2: Value| vec![edge(), edge_service(), route, service("shop-v2", &of_v2)];
    let table: Vec<(&str, Vec<Value>, Option<&str>)> = vec![
        ("right", vec![changed(&[])], None),
        ("wildcard host", vec![changed(&[("/spec/hosts", json!(["*.example.com"]))])], None),
        (
            "other host",
            vec![changed(&[("/spec/hosts", json!(["blog.example.com"]))])],
            Some("`blog.example.com`, and not for `shop.example.com`"),
        ),
        (
            "authority",
            vec![changed(&[
                ("/spec/hosts", json!(["*"])),
                ("/spec/http/0/match/0/authority", json!({"exact": "blog.example.com"})),
            ])],
            Some("blog.example.com"),
        ),
        (
            "no such gateway",
            vec![changed(&[("/spec/gateways", json!(["ingress/none"]))])],
            Some("bound to `ingress/none`"),
        ),
        (
            "gateway of other pods",
            vec![
                gateway_of("other", &json!({"istio": "other"})),
                changed(&[("/spec/gateways", json!(["ingress/other"]))]),
            ],
            Some("bound to `ingress/other`"),
        ),
        (
            "another gateway of the same pods",
            vec![
                gateway_of("other", &json!({"istio": "gateway"})),
                changed(&[("/spec/gateways", json!(["ingress/other"]))]),
            ],
            None,
        ),
        ("mesh alone", vec![changed(&[("/spec/gateways", json!(["mesh"]))])], Some("bound to `mesh`")),
        (
            "mesh in the match",
            vec![changed(&[("/spec/http/0/match/0/gateways", json!(["mesh"]))])],
            Some("bound to `mesh`"),
        ),
        ("not exported", vec![changed(&[("/spec/exportTo", json!(["."]))])], Some("exportTo")),
        (
            "unknown subset",
            vec![changed(&[("/spec/http/0/route/0/destination/subset", json!("v9"))])],
            Some("subset `v9`"),
        ),
        (
            "subset of stable",
            vec![changed(&[("/spec/http/0/route/0/destination/subset", json!("v1"))])],
            Some("pods of other versions"),
        ),
        (
            "rule of the gateway without it",
            vec![changed(&[]), rule(json!([]))],
            Some("no DestinationRule in force in `ingress`"),
        ),
        (
            "rule of the gateway with other pods",
            vec![changed(&[]), rule(json!([{"name": "v2", "labels": {"version": "v1"}}]))],
            Some("pods of other versions"),
        ),
        (
            "rule of the gateway with these pods",
            vec![
                changed(&[]),
                rule(
                    json!([{"name": "v2", "labels": {"version": "v2"}}, {"name": "v1", "labels": {"version": "v1"}}]),
                ),
            ],
            None,
        ),
        (
            "whole Service",
            vec![changed(&[("/spec/http/0/route", to("shop"))])],
            Some("pods of other versions"),
        ),
        (
            "Service of the version",
            vec![service("shop-v2", &v2), changed(&[("/spec/http/0/route", to("shop-v2"))])],
            None,
        ),
        (
            "no such Service",
            vec![changed(&[("/spec/http/0/route", to("shop-v2"))])],
            Some("no Service of namespace `shop`"),
        ),
        (
            "Service of no pods",
            vec![
                service("shop-v2", &json!({"app": "none"})),
                changed(&[("/spec/http/0/route", to("shop-v2"))]),
            ],
            Some("selects no pod of version `v2`"),
        ),
        (
            "Service without a selector",
            vec![service("shop-v2", &json!({})), changed(&[("/spec/http/0/route", to("shop-v2"))])],
            Some("selects no pod of version `v2`"),
        ),
        (
            "behind a route for everything",
            vec![changed(&[(
                "/spec/http",
                json!([changed(&[])["spec"]["http"][1], changed(&[])["spec"]["http"][0]]),
            )])],
            Some("route before it"),
        ),
        (
            "behind its path",
            vec![changed(&[(
                "/spec/http",
                json!([{"match": [{"uri": {"prefix": "/"}}], "route": to("shop")}, changed(&[])["spec"]["http"][0]]),
            )])],
            Some("route before it"),
        ),
        (
            "behind another path",
            vec![changed(&[(
                "/spec/http",
                json!([{"match": [{"uri": {"prefix": "/static"}}], "route": to("blog")}, changed(&[])["spec"]["http"][0]]),
            )])],
            None,
        ),
        (
            "behind its header",
            vec![changed(&[(
                "/spec/http",
                json!([{"match": [header("shop/shop/v2")], "route": to("shop")}, changed(&[])["spec"]["http"][0]]),
            )])],
            Some("pods of other versions"),
        ),
        (
            "a share to stable",
            vec![changed(&[("/spec/http/0/route", split(30))])],
            Some("pods of other versions"),
        ),
        ("no share to stable", vec![changed(&[("/spec/http/0/route", split(0))])], None),
        (
            "redirect",
            vec![changed(&[(
                "/spec/http/0",
                json!({"match": [header("shop/shop/v2")], "redirect": {"uri": "/new"}}),
            )])],
            Some("no destination"),
        ),
        (
            "delegate of a root",
            vec![
                delegated(
                    json!([{"match": [{"uri": {"prefix": "/"}}], "delegate": {"name": "web", "namespace": "shop"}}]),
                ),
                delegate(),
            ],
            None,
        ),
        (
            "delegate by the header",
            vec![
                delegated(
                    json!([{"match": [header("shop/shop/v2")], "delegate": {"name": "web", "namespace": "shop"}}]),
                ),
                changed(&[
                    ("/spec/hosts", json!([])),
                    ("/spec/gateways", json!([])),
                    ("/spec/http", json!([{"route": [{"destination": {"host": "shop", "subset": "v2"}}]}])),
                ]),
            ],
            None,
        ),
        ("delegate of none", vec![delegate()], Some("no hosts")),
        (
            "one of two gateways",
            vec![
                gateway_of("other", &json!({"istio": "gateway"})),
                changed(&[]),
                changed(&[
                    ("/metadata/name", json!("plain")),
                    ("/spec/gateways", json!(["ingress/other"])),
                    ("/spec/http", json!([{"route": to("shop")}])),
                ]),
            ],
            Some("no route there names the version"),
        ),
        ("HTTPRoute", gateway_api(http_route(&[]), v2.clone()), None),
        (
            "HTTPRoute of every host",
            gateway_api(http_route(&[("/spec/hostnames", json!([]))]), v2.clone()),
            None,
        ),
        (
            "HTTPRoute of a set of listeners",
            gateway_api(http_route(&[("/spec/parentRefs/0/kind", json!("ListenerSet"))]), v2.clone()),
            None,
        ),
        (
            "HTTPRoute of another host",
            gateway_api(http_route(&[("/spec/hostnames", json!(["blog.example.com"]))]), v2.clone()),
            Some("and not for `shop.example.com`"),
        ),
        (
            "HTTPRoute of another Gateway",
            gateway_api(http_route(&[("/spec/parentRefs/0/name", json!("none"))]), v2.clone()),
            Some("ingress/none"),
        ),
        (
            "HTTPRoute of no Gateway",
            gateway_api(http_route(&[("/spec/parentRefs", json!([]))]), v2.clone()),
            Some("bound to no gateway"),
        ),
        (
            "HTTPRoute to no pods",
            gateway_api(http_route(&[]), json!({"app": "none"})),
            Some("selects no pod of version `v2`"),
        ),
        (
            "HTTPRoute to all pods",
            gateway_api(http_route(&[]), json!({"app": "shop"})),
            Some("pods of other versions"),
        ),
        (
            "HTTPRoute with a share",
            gateway_api(
                http_route(&[(
                    "/spec/rules/0/backendRefs",
                    json!([{"name": "shop-v2", "port": 80, "weight": 1}, {"name": "shop", "port": 80, "weight": 1}]),
                )]),
                v2.clone(),
            ),
            Some("pods of other versions"),
        ),
        (
            "HTTPRoute that redirects",
            gateway_api(http_route(&[("/spec/rules/0/backendRefs", json!([]))]), v2),
            Some("no backend"),
        ),
    ];
    run(async {
        let mut wrong = Vec::new();
        for (case, objects, expected) in table {
            let found = Box::pin(routed(&objects)).await;
            let is_right = match (&found, expected) {
                (Ok(()), None) => true,
                (Err(message), Some(expected)) => message.contains(expected),
                _ => false,
            };
            if !is_right {
                wrong.push(format!("{case}: expected {expected:?}, found {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
