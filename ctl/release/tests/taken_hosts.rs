//! Which routes of others for a host of the release Istio would not use beside ours: those that name the host by a wildcard.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::too_many_lines,
    reason = "tables, and a test that cannot go on says so by panicking"
)]

use canary_release::file::load;
use canary_release::preflight::{
    Alternative, Exposure, GatewayObservation, OtherGateway, PreflightCheck, exposure_failures,
};
use canary_release::spec::{Release, Routes};
use serde_json::{Value, json};
use std::path::Path;

const GATEWAY: &str = "istio-ingress/shop";
const SERVICE: &str = "shop.shop.svc.cluster.local";

/// `shop/shop` at the Gateway `istio-ingress/shop`.
fn release(hosts: &[&str]) -> Release {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
    let mut release = load(&example).unwrap().release;
    release.hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    assert_eq!(release.gateways[0].name.to_string(), GATEWAY);
    release
}

/// A route object, `namespace/name`, with these fields beside its hosts.
fn object(name: &str, hosts: &[&str], fields: &Value) -> Value {
    let (namespace, name) = name.split_once('/').unwrap();
    let mut spec = json!({"hosts": hosts, "http": [{"route": [{"destination": {"host": "web"}}]}]});
    for (field, value) in fields.as_object().cloned().unwrap_or_default() {
        spec[field] = value;
    }
    json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "spec": spec,
        "metadata": {"namespace": namespace, "name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}})
}

/// One that is bound to the Gateway.
fn at_gateway(name: &str, hosts: &[&str]) -> Value {
    object(name, hosts, &json!({"gateways": [GATEWAY]}))
}

fn with(mut object: Value, field: &str, value: Value) -> Value {
    object["spec"][field] = value;
    object
}

fn https(hosts: &[&str]) -> Value {
    json!({"port": {"number": 443, "protocol": "HTTPS"}, "hosts": hosts})
}

/// The hosts that are taken, as `OBJECT loses HOST of WILDCARD at GATEWAY`.
fn taken(release: &Release, routes: Option<Routes>, servers: &[Value], objects: &[Value]) -> Vec<String> {
    let gateway = release.gateways[0].clone();
    let pods = vec![gateway.pods.labels.clone()];
    let object = json!({"spec": {"selector": gateway.pods.labels, "servers": servers}});
    let observed = GatewayObservation { gateway, object: Some(object), is_gateway_api: false, pods };
    let exposure =
        Exposure { gateways: vec![observed], routes, route_objects: objects.to_vec(), ..Exposure::default() };
    let failures = exposure_failures(release, &exposure).into_iter();
    let failures = failures.filter(|failed| failed.check == PreflightCheck::HostTaken);
    failures
        .map(|failed| {
            let Alternative::ShareHost { taken } = failed.alternative else { panic!("{failed:?}") };
            format!("{} loses {} of {} at {}", taken.object, taken.host, taken.wildcard, taken.gateway)
        })
        .collect()
}

fn loses(object: &str, wildcard: &str) -> Vec<String> {
    vec![format!("VirtualService {object} loses shop.example.com of {wildcard} at {GATEWAY}")]
}

#[test]
fn at_a_gateway_ours_take_the_host_from_the_longest_wildcard() {
    let release = release(&["shop.example.com"]);
    let site = || at_gateway("shop/site", &["*.example.com"]);
    let all = || at_gateway("web/all", &["*"]);
    let exact = || at_gateway("web/exact", &["shop.example.com"]);
    let ours = || at_gateway("shop/shop-canary", &["shop.example.com"]);
    let none = Vec::new;
    for (what, objects, expected) in [
        ("no other", vec![], none()),
        ("a wildcard of the same namespace", vec![site()], loses("shop/site", "*.example.com")),
        ("`*` of another namespace", vec![all()], loses("web/all", "*")),
        ("the longest of several", vec![all(), site()], loses("shop/site", "*.example.com")),
        (
            "upper case",
            vec![at_gateway("shop/site", &["*.Example.com"])],
            loses("shop/site", "*.example.com"),
        ),
        (
            "a wildcard of other hosts",
            vec![at_gateway("shop/site", &["*.shop.example.com", "*.example.org"])],
            none(),
        ),
        ("the domain itself", vec![at_gateway("shop/site", &["example.com"])], none()),
        (
            "one that names the host too, which Istio merges",
            vec![at_gateway("shop/site", &["*", "shop.example.com"])],
            none(),
        ),
        ("another names the host: the wildcard has lost it", vec![site(), all(), exact()], none()),
        ("ours have it already", vec![site(), ours()], none()),
        ("inside the mesh alone", vec![object("shop/site", &["*.example.com"], &Value::Null)], none()),
        ("another Gateway", vec![with(site(), "gateways", json!(["istio-ingress/other"]))], none()),
        (
            "a Gateway of its own namespace",
            vec![object("istio-ingress/site", &["*.example.com"], &json!({"gateways": ["mesh", "shop"]}))],
            loses("istio-ingress/site", "*.example.com"),
        ),
        (
            "a Gateway of its own namespace by `./`",
            vec![object("istio-ingress/site", &["*.example.com"], &json!({"gateways": ["./shop"]}))],
            loses("istio-ingress/site", "*.example.com"),
        ),
        (
            "a Gateway of another namespace by `./`",
            vec![object("web/site", &["*.example.com"], &json!({"gateways": ["./shop"]}))],
            none(),
        ),
        (
            "the Gateway by name and namespace",
            vec![object("web/site", &["*.example.com"], &json!({"gateways": ["shop.istio-ingress"]}))],
            loses("web/site", "*.example.com"),
        ),
        (
            "the Gateway by the name of a Service",
            vec![object(
                "web/site",
                &["*.example.com"],
                &json!({"gateways": ["shop.istio-ingress.svc.cluster.local"]}),
            )],
            loses("web/site", "*.example.com"),
        ),
        ("private to another namespace", vec![with(all(), "exportTo", json!(["."]))], none()),
        ("exported to nobody", vec![with(all(), "exportTo", json!(["~"]))], none()),
        (
            "exported to the pods of the gateway",
            vec![with(all(), "exportTo", json!(["x", "istio-ingress"]))],
            loses("web/all", "*"),
        ),
        ("exported to all", vec![with(all(), "exportTo", json!([".", "*"]))], loses("web/all", "*")),
        (
            "private to the namespace of the pods",
            vec![with(at_gateway("istio-ingress/all", &["*"]), "exportTo", json!(["."]))],
            loses("istio-ingress/all", "*"),
        ),
        (
            "a root with delegates",
            vec![with(site(), "http", json!([{"delegate": {"name": "pages"}}]))],
            loses("shop/site", "*.example.com"),
        ),
        ("a delegate, which has no hosts", vec![object("shop/pages", &[], &Value::Null)], none()),
    ] {
        let found = taken(&release, Some(Routes::Managed), &[https(&["*"])], &objects);
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn a_server_of_the_gateway_narrows_what_a_wildcard_is_for() {
    let release = release(&["shop.example.com"]);
    let site = [at_gateway("shop/site", &["*.example.com"])];
    let lost = || loses("shop/site", "*.example.com");
    let http = |hosts: &[&str]| json!({"port": {"number": 80, "protocol": "HTTP"}, "hosts": hosts});
    for (servers, expected) in [
        (vec![https(&["*.example.com"])], lost()),
        (vec![https(&["web.example.com", "*.example.com"])], lost()),
        (vec![https(&["*/*.example.com"])], lost()),
        (vec![https(&["shop/*.Example.com"])], lost()),
        // The wildcard is one for the host here: Istio merges both.
        (vec![https(&["shop.example.com"])], Vec::new()),
        (vec![https(&["*.example.com", "shop.example.com"])], Vec::new()),
        // Connections for the host go to the first server, by their SNI.
        (vec![https(&["shop.example.com"]), https(&["*.example.com"])], Vec::new()),
        // By plain HTTP the redirect of the wildcard would be lost.
        (vec![https(&["shop.example.com"]), http(&["*.example.com"])], lost()),
        // For route objects of other namespaces.
        (vec![https(&["web/*.example.com"])], Vec::new()),
        (vec![https(&["./*.example.com"])], Vec::new()),
    ] {
        let found = taken(&release, Some(Routes::Managed), &servers, &site);
        assert_eq!(found, expected, "{servers:?}");
    }
}

#[test]
fn a_wildcard_of_ours_takes_hosts_from_wider_ones_and_none_from_narrower_ones() {
    let release = release(&["*.example.com"]);
    let found = |object: Value| taken(&release, Some(Routes::Managed), &[https(&["*"])], &[object]);
    let expected = format!("VirtualService web/all loses *.example.com of * at {GATEWAY}");
    assert_eq!(found(at_gateway("web/all", &["*"])), [expected]);
    for hosts in [["*.example.com"], ["shop.example.com"], ["*.shop.example.com"], ["*.org"]] {
        assert_eq!(found(at_gateway("web/other", &hosts)), [""; 0], "{hosts:?}");
    }
    // The file named the wildcard before.
    let release = self::release(&["shop.example.com"]);
    let ours = at_gateway("shop/shop-canary", &["*.example.com"]);
    assert_eq!(taken(&release, Some(Routes::Managed), &[https(&["*"])], &[ours]), [""; 0]);
}

#[test]
fn inside_the_mesh_ours_take_the_name_of_the_service_from_a_wildcard_of_callers_of_any_namespace() {
    let release = release(&["shop.example.com"]);
    let inside = |name: &str, host: &str, fields: &Value| object(name, &[host], fields);
    let wide = || inside("web/all", "*.local", &Value::Null);
    let narrow = || inside("shop/all", "*.shop.svc.cluster.local", &json!({"gateways": ["mesh"]}));
    let lost = |object: &str, wildcard: &str| {
        format!("VirtualService {object} loses {SERVICE} of {wildcard} at mesh")
    };
    let private = json!({"exportTo": ["."]});
    for (what, objects, expected) in [
        ("the longest", vec![wide(), narrow()], vec![lost("shop/all", "*.shop.svc.cluster.local")]),
        ("another namespace", vec![wide()], vec![lost("web/all", "*.local")]),
        (
            "its own callers alone",
            vec![inside("web/all", "*.local", &private)],
            vec![lost("web/all", "*.local")],
        ),
        (
            "each of the callers that it is sent to",
            vec![wide(), inside("api/all", "*.shop.svc.cluster.local", &private)],
            vec![lost("web/all", "*.local"), lost("api/all", "*.shop.svc.cluster.local")],
        ),
        ("other Services", vec![inside("shop/all", "*.api.svc.cluster.local", &Value::Null)], vec![]),
        ("one that names the Service", vec![wide(), inside("shop/shop", "shop", &Value::Null)], vec![]),
        (
            "at the gateway alone",
            vec![inside("shop/all", "*.local", &json!({"gateways": [GATEWAY]}))],
            vec![],
        ),
        ("ours are there", vec![wide(), inside("shop/shop-canary-mesh", SERVICE, &Value::Null)], vec![]),
    ] {
        assert_eq!(taken(&release, Some(Routes::Managed), &[https(&["*"])], &objects), expected, "{what}");
    }
}

/// A Gateway of others beside that of the release, at these labels.
fn beside(object: Value, namespace: Option<&str>, labels: &Value) -> OtherGateway {
    let selector = serde_json::from_value(labels.clone()).unwrap();
    OtherGateway { name: "web/edge".to_owned(), object, namespace: namespace.map(str::to_owned), selector }
}

/// An `HTTPRoute` in `web` with these fields.
fn http_route(hostnames: &[&str], path: &str, parent: &Value) -> Value {
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": "web", "name": "site", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"hostnames": hostnames, "parentRefs": [parent], "rules": [
            {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "backendRefs": [{"name": "web", "port": 80}]}]}})
}

/// The parts of a case in which an `HTTPRoute` is at a Gateway of the same pods.
struct Beside {
    hostnames: Vec<&'static str>,
    path: &'static str,
    parent: Value,
    listener: Value,
    /// The creation of its Gateway; that of the release is of June.
    created: &'static str,
    labels: Value,
    namespace: &'static str,
}

impl Beside {
    fn taken(&self, release: &Release, routes: Routes) -> Vec<String> {
        let gateway = release.gateways[0].clone();
        let pods = vec![gateway.pods.labels.clone()];
        let server = json!({"port": {"number": 80, "protocol": "HTTP"}, "hosts": ["*"]});
        let own =
            json!({"metadata": {"creationTimestamp": "2026-06-01T00:00:00Z"}, "spec": {"servers": [server]}});
        let observed = GatewayObservation { gateway, object: Some(own), is_gateway_api: false, pods };
        let other = json!({"metadata": {"namespace": "istio-ingress", "name": "edge", "creationTimestamp": self.created},
            "spec": {"listeners": [self.listener]}});
        let exposure = Exposure {
            gateways: vec![observed],
            routes: Some(routes),
            http_routes: vec![http_route(&self.hostnames, self.path, &self.parent)],
            other_gateways: vec![beside(other, Some(self.namespace), &self.labels)],
            ..Exposure::default()
        };
        let failures = exposure_failures(release, &exposure).into_iter();
        failures
            .filter(|failed| failed.check == PreflightCheck::HostTaken)
            .map(|failed| failed.to_string())
            .collect()
    }
}

#[test]
fn ours_take_requests_from_http_routes_at_a_gateway_of_the_same_pods_and_port() {
    const OLDER: &str = "2026-01-01T00:00:00Z";
    const YOUNGER: &str = "2026-09-01T00:00:00Z";
    let release = release(&["shop.example.com"]);
    let all = json!({"namespaces": {"from": "All"}});
    let labels = release.gateways[0].pods.labels.clone();
    let case = || Beside {
        hostnames: vec!["shop.example.com"],
        path: "/",
        parent: json!({"namespace": "istio-ingress", "name": "edge"}),
        listener: json!({"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": all}),
        created: YOUNGER,
        labels: json!(labels),
        namespace: "istio-ingress",
    };
    let with = |field: &str, value: Value| {
        let mut listener = case().listener;
        listener[field] = value;
        Beside { listener, ..case() }
    };
    let port = |number: u16| json!({"namespace": "istio-ingress", "name": "edge", "port": number});
    let section = |name: &str| json!({"namespace": "istio-ingress", "name": "edge", "sectionName": name});
    let mut wrong = Vec::new();
    for (what, case, is_taken) in [
        ("the same host", case(), true),
        (
            "of an older Gateway: what takes everything comes after our header",
            Beside { created: OLDER, ..case() },
            true,
        ),
        ("a path, of a younger Gateway: ours come first", Beside { path: "/api", ..case() }, true),
        (
            "a path, of an older Gateway: theirs come first",
            Beside { path: "/api", created: OLDER, ..case() },
            false,
        ),
        ("a wildcard", Beside { hostnames: vec!["*.example.com"], ..case() }, true),
        ("every host", Beside { hostnames: vec![], ..case() }, true),
        ("another host", Beside { hostnames: vec!["blog.example.com"], ..case() }, false),
        ("a listener of the host", with("hostname", json!("shop.example.com")), true),
        ("a listener of another host", with("hostname", json!("blog.example.com")), false),
        ("its listener by name", Beside { parent: section("http"), ..case() }, true),
        ("another listener by name", Beside { parent: section("https"), ..case() }, false),
        ("its port", Beside { parent: port(80), ..case() }, true),
        ("another port of the Gateway", Beside { parent: port(8080), ..case() }, false),
        (
            "routes of another kind alone",
            with("allowedRoutes", json!({"namespaces": {"from": "All"}, "kinds": [{"kind": "GRPCRoute"}]})),
            false,
        ),
        (
            "routes of several kinds",
            with(
                "allowedRoutes",
                json!({"namespaces": {"from": "All"}, "kinds": [{"kind": "GRPCRoute"}, {"kind": "HTTPRoute"}]}),
            ),
            true,
        ),
        ("another port", with("port", json!(8080)), false),
        ("TLS, which has hosts of its own", with("protocol", json!("HTTPS")), false),
        ("routes of the Gateway's namespace alone", with("allowedRoutes", Value::Null), false),
        (
            "routes of selected namespaces",
            with("allowedRoutes", json!({"namespaces": {"from": "Selector"}})),
            true,
        ),
        ("no routes", with("allowedRoutes", json!({"namespaces": {"from": "None"}})), false),
        ("another Gateway", Beside { parent: json!({"namespace": "web", "name": "edge"}), ..case() }, false),
        (
            "other pods",
            Beside { labels: json!({"gateway.networking.k8s.io/gateway-name": "edge"}), ..case() },
            false,
        ),
        ("pods of another namespace", Beside { namespace: "web", ..case() }, false),
        (
            "inside the mesh, for the Service",
            Beside {
                parent: json!({"kind": "Service", "group": "", "namespace": "shop", "name": "shop"}),
                ..case()
            },
            true,
        ),
        (
            "inside the mesh, for another",
            Beside { parent: json!({"kind": "Service", "group": "", "name": "shop"}), ..case() },
            false,
        ),
    ] {
        for (routes, is_taken) in [(Routes::Managed, is_taken), (Routes::External, false)] {
            let found = case.taken(&release, routes);
            if found.len() != usize::from(is_taken) {
                wrong.push(format!("{what}: {found:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    let found = case().taken(&release, Routes::Managed);
    let expected = "expected no other routes for host `shop.example.com` at Gateway `istio-ingress/shop`, found those of HTTPRoute web/site at \
                    another Gateway of the same pods and port: ours would take its requests";
    assert_eq!(found, [expected]);
}

#[test]
fn routes_that_are_injected_take_no_host_of_theirs_and_routes_of_others_are_their_owners() {
    let release = release(&["shop.example.com"]);
    let site = at_gateway("shop/site", &["*.example.com"]);
    let inside = |name: &str| object(name, &["*.local"], &Value::Null);
    let all = [site, inside("shop/all")];
    for routes in [None, Some(Routes::External), Some(Routes::Inject)] {
        assert_eq!(taken(&release, routes, &[https(&["*"])], &all), [""; 0], "{routes:?}");
    }
    // Of another namespace it is not edited, and ours comes.
    let expected = format!("VirtualService web/all loses {SERVICE} of *.local at mesh");
    assert_eq!(taken(&release, Some(Routes::Inject), &[https(&["*"])], &[inside("web/all")]), [expected]);
}
