//! Objects, and our routes beside them.

use canary_release::routing::{
    NamespaceLabels, ParentGateway, SiblingContext, SiblingRefusal, VersionRoute, WholeService,
    sibling_routes,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The values of the routing header that lead to `v1` and `v2`.
pub(crate) const HEADERS: [&str; 2] = ["7f3a-v1", "9c21-v2"];
pub(crate) const VERSIONS: [VersionRoute<'static>; 2] = [
    VersionRoute { header: HEADERS[0], service: "shop-v1" },
    VersionRoute { header: HEADERS[1], service: "shop-v2" },
];

/// Our routes for the Service `shop/shop` beside these.
pub(crate) fn siblings(
    routes: &[Value],
    gateways: &[Value],
    grants: &[Value],
) -> Result<Vec<Value>, BTreeSet<SiblingRefusal>> {
    let gateways: Vec<ParentGateway> = gateways.iter().map(ParentGateway::read).collect();
    let service = WholeService { namespace: "shop", name: "shop" };
    let context = SiblingContext {
        name: "shop-canary",
        service,
        versions: &VERSIONS,
        gateways: &gateways,
        grants: Some(grants),
        namespaces: &namespaces(),
    };
    sibling_routes(routes, &context)
}

/// Those whose labels are known.
pub(crate) fn namespaces() -> NamespaceLabels {
    let labels = |name: &str| json!({"team": name}).as_object().cloned().unwrap_or_default();
    ["shop", "team"].map(|name| (name.to_owned(), labels(name))).into()
}

/// The Gateway `ingress/edge` with a listener for every hostname.
pub(crate) fn edge() -> Value {
    gateway("edge", &json!([{"name": "http", "port": 80}]))
}

pub(crate) fn gateway(name: &str, listeners: &Value) -> Value {
    let mut listeners = listeners.clone();
    for listener in listeners.as_array_mut().unwrap() {
        if listener["allowedRoutes"].is_null() {
            listener["allowedRoutes"] = json!({"namespaces": {"from": "All"}});
        }
    }
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"namespace": "ingress", "name": name}, "spec": {"listeners": listeners}})
}

/// `NAMESPACE/NAME` at `ingress/edge`.
pub(crate) fn route(name: &str, rules: &Value) -> Value {
    let (namespace, name) = name.split_once('/').unwrap();
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": namespace, "name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"parentRefs": [{"namespace": "ingress", "name": "edge"}], "rules": rules}})
}

/// The same for calls of gRPC.
pub(crate) fn grpc_route(name: &str, rules: &Value) -> Value {
    let mut found = route(name, rules);
    found["kind"] = json!("GRPCRoute");
    found
}

pub(crate) fn created(mut route: Value, at: &str) -> Value {
    route["metadata"]["creationTimestamp"] = json!(at);
    route
}

/// A rule to a Service of the route's namespace.
pub(crate) fn rule(matches: &Value, service: &str) -> Value {
    json!({"matches": matches, "backendRefs": [{"name": service, "port": 80}]})
}

pub(crate) fn grant(to: &Value) -> Value {
    json!({"metadata": {"namespace": "shop", "name": "grant"}, "spec": {
        "from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "team"},
            {"group": "gateway.networking.k8s.io", "kind": "GRPCRoute", "namespace": "team"}],
        "to": [to]}})
}
