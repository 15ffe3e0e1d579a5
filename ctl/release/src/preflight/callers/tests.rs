use super::*;
use crate::file::parse;
use serde_json::json;
use std::path::Path;

fn release(sidecars: &Value) -> Release {
    let document = json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "Release",
    "metadata": {"name": "shop", "namespace": "shop", "uid": "shopshopshop"},
    "spec": {
        "versions": {"stable": "v1", "canary": "v2"},
        "hosts": ["shop.example.com"],
        "gateways": [{"name": "ingress/gateway", "selector": {"istio": "gateway"}}],
        "sidecars": sidecars,
        "stickiness": "session",
        "session": {"cookie": "JSESSIONID"},
        "identifyBy": [{"cookie": "JSESSIONID"}],
        "delivery": {"module": "oci://registry.test/filter:1"},
    }});
    parse(Path::new("canary.yaml"), &document.to_string()).unwrap().release
}

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    let (namespace, name) = name.split_once('/').unwrap();
    json!({"apiVersion": "networking.istio.io/v1", "kind": kind, "metadata": {"namespace": namespace, "name": name,
        "creationTimestamp": "2026-11-01T00:00:00Z"}, "spec": spec})
}

fn service(name: &str, changes: &Value) -> Value {
    let mut spec =
        json!({"selector": {"app": "shop"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]});
    for (field, value) in changes.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": name}, "spec": spec})
}

const HOST: &str = "shop.shop.svc.cluster.local";

fn callers() -> Callers {
    let subset = |version: &str| json!({"name": version, "labels": {"version": version}});
    let ours = json!({"host": HOST, "subsets": [subset("v1"), subset("v2")]});
    let labels = |version: &str| {
        [("app", "shop"), ("version", version)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    };
    Callers {
        services: vec![service("shop", &json!({}))],
        pods: PodsBehind {
            labels: vec![labels("v1"), labels("v2")],
            ports: [("web".to_owned(), [8080].into()), ("metrics".to_owned(), [9090].into())].into(),
        },
        ours: Some(HostRule::of(&object("DestinationRule", "shop/shop-canary", &ours)).unwrap()),
        ..Callers::default()
    }
}

/// The texts of what is found, each with the check that it fails.
fn found(release: &Release, callers: &Callers) -> Vec<(String, Option<&'static str>)> {
    let calls = unrouted_calls(release, callers);
    let check =
        |calls: &UnroutedCalls| calls.failure(release, callers.routes).map(|failed| failed.check.name());
    calls.iter().map(|calls| (calls.to_string(), check(calls))).collect()
}

/// One row: what it is, the rule or Service or Sidecar, a part of what is said, and the check that fails.
type Row<'r> = (&'r str, Value, Option<(&'r str, Option<&'r str>)>);

fn compare(rows: Vec<Row<'_>>, release: &Release, put: impl Fn(&mut Callers, Value)) {
    for (what, object, expected) in rows {
        let mut callers = callers();
        put(&mut callers, object);
        let found = found(release, &callers);
        match (expected, found.as_slice()) {
            (None, []) => {}
            (Some((part, check)), [(text, failed)]) => {
                assert!(text.contains(part), "{what}: expected `{part}`, found `{text}`");
                assert_eq!(*failed, check, "{what}: {text}");
            }
            (expected, found) => panic!("{what}: expected {expected:?}, found {found:?}"),
        }
    }
}

fn rule(name: &str, spec: &Value) -> Value {
    object("DestinationRule", name, spec)
}

const REFUSED: Option<&str> = Some("hidden-subsets");

fn rule_rows() -> Vec<Row<'static>> {
    let settings = || json!({"connectionPool": {"tcp": {"maxConnections": 9}}});
    let web = json!({"matchLabels": {"app": "web"}});
    vec![
        (
            "a selector in the Service's namespace",
            rule("shop/web", &json!({"host": "shop", "workloadSelector": web, "trafficPolicy": settings()})),
            Some(("callers in `shop` with `app: web` to know the subsets", REFUSED)),
        ),
        (
            "a caller's namespace",
            rule("web/client", &json!({"host": HOST, "trafficPolicy": settings()})),
            Some(("found that they go by DestinationRule web/client alone", REFUSED)),
        ),
        (
            "a caller's namespace, for itself",
            rule("web/client", &json!({"host": HOST, "exportTo": ["."]})),
            Some(("`web`", REFUSED)),
        ),
        (
            "a caller's namespace, with a selector",
            rule("web/client", &json!({"host": HOST, "workloadSelector": web})),
            Some(("`web` with `app: web`", REFUSED)),
        ),
        (
            "the same with our subsets",
            rule(
                "web/client",
                &json!({"host": HOST, "subsets": [{"name": "v1", "labels": {"version": "v1"}}, {"name": "v2", "labels": {"version": "v2"}}]}),
            ),
            None,
        ),
        ("a caller's wildcard", rule("web/all", &json!({"host": "*.local"})), Some(("`web`", None))),
        ("another wildcard", rule("web/all", &json!({"host": "*.example.com"})), None),
        (
            "for others, not for its own namespace",
            rule("web/client", &json!({"host": HOST, "exportTo": ["other"]})),
            None,
        ),
        ("another Service of that name", rule("web/client", &json!({"host": "shop"})), None),
        (
            "the Service's own, without a selector",
            rule("shop/own", &json!({"host": HOST, "trafficPolicy": settings()})),
            None,
        ),
    ]
}

#[test]
fn rules_that_hide_our_subsets_are_refused_where_they_name_the_service_and_named_where_they_have_a_wildcard()
{
    compare(rule_rows(), &release(&json!([])), |callers, body| {
        callers.rules.push(HostRule::of(&body).unwrap());
    });
    let mut external = callers();
    external.routes = Routes::External;
    external.rules.push(HostRule::of(&rule("web/client", &json!({"host": HOST}))).unwrap());
    let [(_, check)] = found(&release(&json!([])), &external).try_into().unwrap();
    assert_eq!(check, None, "the owner of external routes decides which subsets they name");
}

#[test]
fn rules_that_are_merged_are_all_named() {
    let mut callers = callers();
    for name in ["web/client", "web/more"] {
        callers.rules.push(HostRule::of(&rule(name, &json!({"host": HOST}))).unwrap());
    }
    let [(text, _)] = found(&release(&json!([])), &callers).try_into().unwrap();
    assert!(text.contains("by DestinationRule web/client and DestinationRule web/more alone"), "{text}");
}

#[test]
fn a_service_to_which_no_route_applies_is_refused_where_sidecars_decide_and_else_named() {
    let port = |changes: Value| {
        let mut port = json!({"port": 80, "targetPort": 8080});
        for (field, value) in changes.as_object().into_iter().flatten() {
            port[field] = value.clone();
        }
        service("shop", &json!({"ports": [port]}))
    };
    let inside = json!([{"namespace": "shop", "selector": {"app": "web"}}]);
    for (sidecars, check) in [(json!([]), None), (inside, Some("unrouted-calls"))] {
        let said = |part| Some((part, check));
        let rows: Vec<Row<'_>> = vec![
            ("headless", service("shop", &json!({"clusterIP": "None"})), said("found `clusterIP: None`")),
            ("a cluster address", service("shop", &json!({"clusterIP": "10.0.0.1"})), None),
            (
                "tcp by name",
                port(json!({"name": "tcp-web"})),
                said("found `name: tcp-web`, which is TCP for Istio"),
            ),
            ("tcp alone", port(json!({"name": "tcp"})), said("TCP")),
            ("https by name", port(json!({"name": "https"})), said("HTTPS")),
            ("tls by name", port(json!({"name": "TLS-web"})), said("TLS")),
            (
                "tcp by appProtocol",
                port(json!({"name": "http", "appProtocol": "tcp"})),
                said("found `appProtocol: tcp`"),
            ),
            ("wss by appProtocol", port(json!({"appProtocol": "kubernetes.io/wss"})), said("HTTPS")),
            ("udp", port(json!({"name": "http", "protocol": "UDP"})), said("UDP")),
            ("http by appProtocol", port(json!({"name": "tcp-web", "appProtocol": "http"})), None),
            ("h2c by appProtocol", port(json!({"name": "x", "appProtocol": "kubernetes.io/h2c"})), None),
            ("grpc-web", port(json!({"name": "grpc-web"})), None),
            ("detected by Istio", port(json!({"name": "web"})), None),
            ("without a name", port(json!({})), None),
        ];
        compare(rows, &release(&sidecars), |callers, body| callers.services = vec![body]);
    }
}

#[test]
fn a_port_beside_the_one_of_the_release_that_is_not_http_is_named_and_refused_by_nothing() {
    let beside = |changes: Value| {
        let mut port = json!({"port": 9090});
        for (field, value) in changes.as_object().into_iter().flatten() {
            port[field] = value.clone();
        }
        service("shop", &json!({"ports": [{"name": "http", "port": 80, "targetPort": 8080}, port]}))
    };
    let rows: Vec<Row<'_>> = vec![
        (
            "tcp by name",
            beside(json!({"name": "tcp-admin"})),
            Some(("port 9090 of Service shop/shop, found `name: tcp-admin`", None)),
        ),
        ("by appProtocol", beside(json!({"name": "a", "appProtocol": "redis"})), Some(("REDIS", None))),
        ("http", beside(json!({"name": "http-admin"})), None),
        ("detected", beside(json!({"name": "admin"})), None),
    ];
    let inside = release(&json!([{"namespace": "shop", "selector": {"app": "web"}}]));
    compare(rows, &inside, |callers, body| callers.services = vec![body]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn other_services_of_the_same_pods_are_named_unless_they_select_a_version_or_lead_elsewhere() {
    let metrics = json!([{"name": "metrics", "port": 9090, "targetPort": 9090}]);
    let rows: Vec<Row<'_>> = vec![
        (
            "another name",
            service(
                "shop-old",
                &json!({"type": "ExternalName", "externalName": "shop.shop.svc.cluster.local."}),
            ),
            Some(("Service shop/shop-old is another name of the Service", None)),
        ),
        (
            "a name outside",
            service("shop-old", &json!({"type": "ExternalName", "externalName": "shop.example.com"})),
            None,
        ),
        (
            "the same pods",
            service("shop-internal", &json!({})),
            Some(("Service shop/shop-internal selects the same pods", None)),
        ),
        (
            "the same pods, headless",
            service("shop-headless", &json!({"clusterIP": "None"})),
            Some(("shop-headless", None)),
        ),
        (
            "the same pods by a port of the nodes",
            service("shop-node", &json!({"type": "NodePort"})),
            Some(("is open on each node", None)),
        ),
        (
            "by an address outside",
            service("shop-ip", &json!({"externalIPs": ["192.0.2.1"]})),
            Some(("is open on each node", None)),
        ),
        (
            "the same port by the name of the container's",
            service("shop-web", &json!({"ports": [{"port": 80, "targetPort": "web"}]})),
            Some(("Service shop/shop-web selects the same pods", None)),
        ),
        (
            "headless, without ports",
            service("shop-peers", &json!({"clusterIP": "None", "ports": null})),
            Some(("Service shop/shop-peers selects the same pods", None)),
        ),
        (
            "metrics by the name of the container's port",
            service("shop-metrics", &json!({"ports": [{"port": 80, "targetPort": "metrics"}]})),
            None,
        ),
        (
            "a name that no container has",
            service("shop-none", &json!({"ports": [{"port": 80, "targetPort": "none"}]})),
            None,
        ),
        ("metrics of the same pods", service("shop-metrics", &json!({"ports": metrics})), None),
        ("one version", service("shop-v1", &json!({"selector": {"app": "shop", "version": "v1"}})), None),
        ("other pods", service("blog", &json!({"selector": {"app": "blog"}})), None),
        ("no selector", service("outside", &json!({"selector": null})), None),
    ];
    compare(rows, &release(&json!([])), |callers, body| callers.services.push(body));
}

#[test]
fn a_service_entry_of_the_same_pods_is_named() {
    let entry = |name: &str, labels: Value, target: u16| {
        let port = json!({"number": 80, "name": "http", "protocol": "HTTP", "targetPort": target});
        object(
            "ServiceEntry",
            name,
            &json!({"hosts": ["shop.example.org"], "ports": [port], "workloadSelector": {"labels": labels}}),
        )
    };
    let shop = || json!({"app": "shop"});
    let without = json!({"hosts": ["pay.example.org"], "ports": [{"number": 443, "protocol": "TLS"}]});
    let rows: Vec<Row<'_>> = vec![
        (
            "the same pods",
            entry("shop/old", shop(), 8080),
            Some(("ServiceEntry shop/old selects the same pods", None)),
        ),
        (
            "of the Service's name",
            entry("shop/shop", shop(), 8080),
            Some(("ServiceEntry shop/shop selects the same pods", None)),
        ),
        ("another port", entry("shop/old", shop(), 9090), None),
        ("one version", entry("shop/old", json!({"app": "shop", "version": "v1"}), 8080), None),
        ("other pods", entry("shop/old", json!({"app": "blog"}), 8080), None),
        ("a host outside", object("ServiceEntry", "shop/pay", &without), None),
    ];
    compare(rows, &release(&json!([])), |callers, body| callers.service_entries.push(body));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn workloads_and_entries_of_the_host_that_our_subsets_leave_out_are_refused_or_named() {
    let workload =
        |labels: Value| object("WorkloadEntry", "shop/vm", &json!({"address": "10.0.0.9", "labels": labels}));
    let entry = |name: &str, host: &str, more: Value| {
        let mut spec =
            json!({"hosts": [host], "ports": [{"number": 80, "protocol": "HTTP"}], "resolution": "STATIC"});
        for (field, value) in more.as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
        object("ServiceEntry", name, &spec)
    };
    let endpoints = |labels: Value| json!({"endpoints": [{"address": "10.0.0.9", "labels": labels}]});
    let refused = |part| Some((part, Some("unrouted-calls")));
    let vm = "found WorkloadEntry shop/vm without it";
    let of_metadata = {
        let mut object = workload(json!({"app": "shop"}));
        object["metadata"]["labels"] = json!({"version": "v1"});
        object
    };
    let rows: Vec<Row<'_>> = vec![
        ("without a version", workload(json!({"app": "shop"})), refused(vm)),
        ("of a version", workload(json!({"app": "shop", "version": "v1"})), None),
        ("of a version by its metadata", of_metadata, None),
        ("of another Service", workload(json!({"app": "blog"})), None),
        ("without labels", workload(json!({})), None),
        (
            "an endpoint of the host",
            entry("shop/more", HOST, endpoints(json!({}))),
            refused("ServiceEntry shop/more"),
        ),
        ("an endpoint of a version", entry("shop/more", HOST, endpoints(json!({"version": "v1"}))), None),
        ("an endpoint of another host", entry("shop/more", "pay.example.org", endpoints(json!({}))), None),
        (
            "the host in the callers' namespace",
            entry("web/shop", HOST, endpoints(json!({}))),
            refused("found it in ServiceEntry web/shop"),
        ),
        (
            "the host in another namespace",
            entry("blog/shop", HOST, json!({})),
            Some(("ServiceEntry blog/shop", None)),
        ),
        (
            "a wildcard of the host",
            entry("blog/all", "*.shop.svc.cluster.local", json!({})),
            Some(("blog/all", None)),
        ),
        ("another host of a namespace", entry("blog/pay", "pay.example.org", json!({})), None),
    ];
    let inside = release(&json!([{"namespace": "web", "selector": {"app": "web"}}]));
    compare(rows, &inside, |callers, body| {
        let is_workload = body["kind"] == "WorkloadEntry";
        if is_workload { &mut callers.workload_entries } else { &mut callers.service_entries }.push(body);
    });
    let mut external = callers();
    external.routes = Routes::External;
    external.workload_entries.push(workload(json!({"app": "shop"})));
    let [(_, check)] = found(&release(&json!([])), &external).try_into().unwrap();
    assert_eq!(check, None, "the owner of external routes decides which subsets they name");
}

#[test]
fn a_sidecar_that_leaves_the_service_out_is_refused_for_callers_whose_sidecars_decide_and_else_named() {
    let sidecar = |name: &str, hosts: Value| object("Sidecar", name, &json!({"egress": [{"hosts": hosts}]}));
    let by_port = |name: &str, port: Value| {
        object("Sidecar", name, &json!({"egress": [{"port": port, "hosts": ["*/*"]}]}))
    };
    let named = |part| Some((part, None));
    let refused = |part| Some((part, Some("unrouted-calls")));
    let rows: Vec<Row<'_>> = vec![
        (
            "the mesh",
            sidecar("istio-system/default", json!(["./*", "istio-system/*"])),
            refused("all namespaces without a Sidecar of their own"),
        ),
        (
            "a namespace",
            sidecar("blog/default", json!(["./*"])),
            named("callers in `blog`, found that Sidecar blog/default leaves it out"),
        ),
        ("that of the callers", sidecar("web/default", json!(["./*", "istio-system/*"])), refused("`web`")),
        (
            "another host of the namespace",
            sidecar("web/default", json!(["shop/blog.shop.svc.cluster.local"])),
            refused("`web`"),
        ),
        ("none", sidecar("web/default", json!(["~/*"])), refused("`web`")),
        ("the Service's own", sidecar("shop/default", json!(["./*"])), None),
        ("all", sidecar("web/default", json!(["*/*"])), None),
        ("its namespace", sidecar("web/default", json!(["./*", "shop/*"])), None),
        ("its host", sidecar("web/default", json!(["shop/shop.shop.svc.cluster.local"])), None),
        ("by a suffix", sidecar("web/default", json!(["*/*.svc.cluster.local"])), None),
        ("without egress", object("Sidecar", "web/default", &json!({"ingress": []})), None),
        ("for another port", by_port("web/default", json!({"number": 9080})), refused("`web`")),
        ("for its port", by_port("web/default", json!({"number": 80})), None),
        (
            "for another port, and for all",
            object(
                "Sidecar",
                "web/default",
                &json!({"egress": [
                {"port": {"number": 9080}, "hosts": ["*/*"]}, {"hosts": ["shop/*"]}]}),
            ),
            None,
        ),
    ];
    let inside = release(&json!([{"namespace": "web", "selector": {"app": "web"}}]));
    compare(rows, &inside, |callers, body| callers.sidecars.push(body));
}

#[test]
fn a_waypoint_is_refused_where_gateways_send_to_it_and_else_named() {
    let labels = |labels: Value| {
        let mut own = service("shop", &json!({}));
        own["metadata"]["labels"] = labels;
        own
    };
    let rows: Vec<Row<'_>> = vec![
        (
            "of the Service",
            labels(json!({"istio.io/use-waypoint": "way"})),
            Some(("has the waypoint `way`", None)),
        ),
        (
            "for gateways too",
            labels(json!({"istio.io/use-waypoint": "way", "istio.io/ingress-use-waypoint": "true"})),
            Some(("what gateways and ambient pods send", Some("unrouted-calls"))),
        ),
        ("none", labels(json!({"istio.io/use-waypoint": "none"})), None),
    ];
    compare(rows, &release(&json!([])), |callers, body| callers.services = vec![body]);
    let mut of_namespace = callers();
    of_namespace.namespace_labels = [("istio.io/use-waypoint".to_owned(), "way".to_owned())].into();
    assert_eq!(found(&release(&json!([])), &of_namespace).len(), 1, "that of the namespace");
}
