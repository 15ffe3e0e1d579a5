//! Our `VirtualService` beside those of other owners.

use crate::kit::{LIST, record, release, targets, theirs, to};
use canary_release::object::{Object, Reference, Stage};
use canary_release::plan::{Error, order};
use canary_release::routing::{GatewayServer, covers_mesh};
use canary_release::spec::ServiceHost;
use serde_json::{Value, json};

/// Our `VirtualService` at a gateway and inside the mesh, and one of another owner that was created at this time.
fn ordered(at: &str, hosts: Value, gateways: Value, http: &Value) -> Result<Vec<String>, Error> {
    let mut other = theirs(http);
    other["metadata"]["creationTimestamp"] = json!(at);
    other["spec"]["hosts"] = hosts;
    other["spec"]["gateways"] = gateways;
    beside(&other, &[])
}

/// The same with this one and these servers of the Gateway.
fn beside(other: &Value, servers: &[GatewayServer]) -> Result<Vec<String>, Error> {
    let own = |name: &str, host: &str, gateway: &str| {
        let body = json!({
            "apiVersion": LIST,
            "kind": "VirtualService",
            "metadata": {"name": name, "namespace": "shop", "creationTimestamp": "2026-06-01T00:00:00Z"},
            "spec": {"hosts": [host], "gateways": [gateway], "http": [{"route": to("shop")}]},
        });
        Object { reference: Reference::of(&body).unwrap(), stage: Stage::Routes, body }
    };
    let desired = [
        own("shop-canary", "shop.example.com", "istio-ingress/shop"),
        own("shop-canary-mesh", "shop.shop.svc.cluster.local", "mesh"),
    ];
    let observed = desired.iter().map(|object| (object.reference.clone(), object.body.clone())).collect();
    order(&targets(&record()), &desired, &observed, std::slice::from_ref(other), servers)
}

const OLDER: &str = "2026-01-01T00:00:00Z";
const YOUNGER: &str = "2026-09-01T00:00:00Z";

#[test]
fn at_a_gateway_the_oldest_comes_first_and_must_not_lead_past_the_filters_header() {
    let (host, gateway) = (json!(["shop.example.com"]), json!(["istio-ingress/shop"]));
    let ordered = |at, http| ordered(at, host.clone(), gateway.clone(), &http);
    let blog = json!([{"match": [{"uri": {"prefix": "/blog"}}], "route": to("blog")}]);
    let place = "shop.example.com at istio-ingress/shop: routes of VirtualService";
    assert_eq!(
        ordered(OLDER, blog.clone()).unwrap(),
        [format!("{place} shop/by-hand, then VirtualService shop/shop-canary")]
    );
    assert_eq!(
        ordered(YOUNGER, blog).unwrap(),
        [format!("{place} shop/shop-canary, then VirtualService shop/by-hand")]
    );
    let hidden = |http| matches!(ordered(OLDER, http), Err(Error::Hidden { .. }));
    assert!(hidden(json!([{"match": [{"uri": {"prefix": "/cart"}}], "route": to("shop")}])));
    assert!(hidden(json!([{"match": [{"uri": {"prefix": "/"}}], "route": to("blog")}])), "it takes all");
    assert!(hidden(json!([{"route": to("shop")}])), "it takes all, and to any version");
    let stable = json!([{"destination": {"host": "shop", "subset": "v1"}}]);
    assert!(!hidden(json!([{"route": stable}])), "as ours would");
    ordered(YOUNGER, json!([{"route": to("shop")}])).unwrap();
}

#[test]
fn inside_the_mesh_the_oldest_answers_alone() {
    let ordered = |at| ordered(at, json!(["shop"]), Value::Null, &json!([{"route": to("shop")}]));
    let Err(Error::Hidden { why, .. }) = ordered(OLDER) else { panic!() };
    assert_eq!(why, "is older, and Istio merges none inside the mesh");
    assert_eq!(
        ordered(YOUNGER).unwrap(),
        ["shop inside the mesh: VirtualService shop/shop-canary-mesh alone, which is older"]
    );
}

#[test]
fn inside_the_mesh_theirs_answers_where_it_names_the_service_itself() {
    let with = |hosts: Value, gateways: Value| {
        let mut object = theirs(&json!([{"route": to("shop")}]));
        object["spec"]["hosts"] = hosts;
        object["spec"]["gateways"] = gateways;
        covers_mesh(&ServiceHost::new("shop", "shop"), &[object])
    };
    assert!(with(json!(["shop"]), Value::Null));
    assert!(with(json!(["shop.example.com", "shop.shop.svc.cluster.local"]), json!(["a/b", "mesh"])));
    assert!(!with(json!(["shop"]), json!(["a/b"])));
    assert!(!with(json!(["shop.example.com"]), json!(["mesh"])));
    assert!(with(json!(["*.shop.svc.cluster.local"]), json!(["mesh"])), "by a wildcard");
    assert!(!with(json!(["*.other.svc.cluster.local"]), json!(["mesh"])));
}

/// Each form of an entry of `servers[].hosts` of a Gateway in `istio-ingress`, and the namespaces whose routes for the host it binds.
///
/// # Source
/// `sanitizeServerHostNamespace` and `NamesForNamespace` in istiod.
#[test]
fn an_object_is_beside_ours_where_a_server_binds_both() {
    const NAMESPACES: [&str; 3] = ["shop", "web", "istio-ingress"];
    let all = NAMESPACES.as_slice();
    let none: &[&str] = &[];
    let blog = json!([{"match": [{"uri": {"prefix": "/blog"}}], "route": to("blog")}]);
    let mut wrong = Vec::new();
    for (entry, host, bound) in [
        ("*", "shop.example.com", all),
        ("shop.example.com", "shop.example.com", all),
        ("*.example.com", "Shop.Example.com", all),
        ("*/shop.example.com", "shop.example.com", all),
        ("*/*", "shop.example.com", all),
        // The server makes the wildcard one for the host.
        ("shop.example.com", "*.example.com", all),
        ("shop.example.com", "*", all),
        // Both wildcards stay, and ours is another virtual host.
        ("*", "*.example.com", none),
        ("*.example.com", "*", none),
        // Ours is not bound.
        ("web/*", "shop.example.com", none),
        ("./*", "shop.example.com", none),
        ("~/*", "shop.example.com", none),
        ("*.example.org", "shop.example.com", none),
        ("shop/shop.example.com", "shop.example.com", &["shop"]),
        ("shop/*", "shop.example.com", &["shop"]),
        ("shop/*.Example.com", "shop.example.com", &["shop"]),
    ] {
        let object =
            json!({"spec": {"servers": [{"port": {"number": 80, "protocol": "HTTP"}, "hosts": [entry]}]}});
        let servers =
            GatewayServer::of_istio("istio-ingress/shop", &release().gateways[0].pods, Some(&object));
        for namespace in NAMESPACES {
            let mut other = theirs(&blog);
            other["metadata"]["namespace"] = json!(namespace);
            other["spec"]["hosts"] = json!([host]);
            let is_beside = !beside(&other, &servers).unwrap().is_empty();
            if is_beside != bound.contains(&namespace) {
                wrong.push(format!("{entry}, {host} of {namespace}: {is_beside}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// `exportTo` of another object, its namespace and its age; its place at the gateway, and inside the mesh.
#[test]
fn an_object_is_beside_ours_for_proxies_that_are_sent_it() {
    let gateway = "istio-ingress";
    let mut wrong = Vec::new();
    for (export_to, namespace, created, at_gateway, inside) in [
        (json!(null), "shop", OLDER, "first", "hides"),
        (json!(null), "shop", YOUNGER, "second", "second"),
        (json!(["*"]), "web", YOUNGER, "second", "second"),
        (json!(["."]), "shop", OLDER, "-", "hides"),
        (json!(["."]), "shop", YOUNGER, "-", "hides"),
        (json!(["."]), "web", OLDER, "-", "-"),
        (json!(["~"]), "shop", OLDER, "-", "-"),
        (json!([gateway]), "web", YOUNGER, "first", "-"),
        (json!(["."]), gateway, YOUNGER, "first", "-"),
        (json!(["shop"]), "web", YOUNGER, "-", "hides"),
        (json!([".", "*"]), "web", YOUNGER, "second", "second"),
    ] {
        let place = |host: &str, at: &str| {
            let mut other = theirs(&json!([{"match": [{"uri": {"prefix": "/blog"}}], "route": to("blog")}]));
            other["metadata"] = json!({"name": "z", "namespace": namespace, "creationTimestamp": created});
            other["spec"]["hosts"] = json!([host]);
            other["spec"]["gateways"] = json!([at]);
            other["spec"]["exportTo"] = export_to.clone();
            match beside(&other, &[]).as_deref() {
                Err(_) => "hides",
                Ok([note]) if note.contains("/z, then") => "first",
                Ok([_]) => "second",
                Ok(_) => "-",
            }
        };
        let found =
            (place("shop.example.com", "istio-ingress/shop"), place("shop.shop.svc.cluster.local", "mesh"));
        if found != (at_gateway, inside) {
            wrong.push(format!("{export_to} of {namespace}, {created}: {found:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
