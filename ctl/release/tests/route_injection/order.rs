//! Our `VirtualService` beside those of other owners.

use crate::kit::{LIST, record, targets, theirs, to};
use canary_release::object::{Object, Reference, Stage};
use canary_release::plan::{Error, order};
use canary_release::routing::covers_mesh;
use canary_release::spec::ServiceHost;
use serde_json::{Value, json};

/// Our `VirtualService` at a gateway and inside the mesh, and one of another owner that was created at this time.
fn ordered(at: &str, hosts: Value, gateways: Value, http: &Value) -> Result<Vec<String>, Error> {
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
    let mut other = theirs(http);
    other["metadata"]["creationTimestamp"] = json!(at);
    other["spec"]["hosts"] = hosts;
    other["spec"]["gateways"] = gateways;
    order(&targets(&record()), &desired, &observed, &[other])
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
