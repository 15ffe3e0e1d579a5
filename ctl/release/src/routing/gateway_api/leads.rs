//! Whether an `HTTPRoute` or a `GRPCRoute` leads to a version by our header, or to pods of every version.
//!
//! A rule leads to Services and not to subsets, so each version has a Service of its own there. Such routes are always written by
//! their owner (`routes: external`).
//!
//! # Source
//! Gateway API, [HTTPRoute](https://gateway-api.sigs.k8s.io/reference/spec/#httproute), and `GRPCRoute` alike: names of headers are compared without
//! case, their `type` is `Exact` by default; the `kind` of a backend is `Service` and its `weight` 1 by default.

use super::gateway_route::{list, name_of};
use super::route_kind::GRPC_ROUTE_KIND;
use assignment::contract::HeaderNames;
use serde_json::Value;
use std::collections::BTreeSet;

/// The other kinds of routes of the Gateway API, with the versions of the API that Istio reads.
pub const OTHER_ROUTE_KINDS: [(&str, &str); 3] =
    [(GRPC_ROUTE_KIND, GATEWAY_API), ("TLSRoute", ALPHA_API), ("TCPRoute", ALPHA_API)];
/// The version of the API that has the kinds for connections.
const ALPHA_API: &str = "gateway.networking.k8s.io/v1alpha2";
/// The kind of an object by which routes of other namespaces may lead to Services, and its version.
pub const REFERENCE_GRANT: (&str, &str) = ("ReferenceGrant", "gateway.networking.k8s.io/v1beta1");
/// Its API group.
pub const GATEWAY_API_GROUP: &str = "gateway.networking.k8s.io";
/// Its API version.
pub const GATEWAY_API: &str = "gateway.networking.k8s.io/v1";
/// The label that Istio gives the pods of a Gateway that it deploys: the Gateway's name.
///
/// # Source
/// Istio, [Kubernetes Gateway API, automated deployment](https://istio.io/latest/docs/tasks/traffic-management/ingress/gateway-api/).
pub const GATEWAY_NAME_LABEL: &str = "gateway.networking.k8s.io/gateway-name";

/// A Service with pods of every version, by namespace and name.
#[derive(Clone, Copy, Debug)]
pub struct WholeService<'s> {
    /// Its namespace.
    pub namespace: &'s str,
    /// Its name.
    pub name: &'s str,
}

/// Whether a rule of a route is taken when our header has this value, and leads to a Service of one version: to another than
/// that of the release.
pub fn http_route_leads_by_header(route: &Value, value: &str, whole: WholeService<'_>) -> bool {
    rules(route).any(|rule| {
        let leads = backends(rule).next().is_some() && !backends(rule).any(|one| is(one, route, whole));
        leads && matches_header(rule, value)
    })
}

/// The Services, by namespace and name, and their ports to which a route leads when our header has this value.
pub fn http_route_ports(route: &Value, value: &str) -> BTreeSet<(String, String, u64)> {
    let own = route.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
    let place = |one: &Value| {
        let text = |field: &str| one.get(field).and_then(Value::as_str);
        let is_service = text("kind").unwrap_or("Service") == "Service";
        let (namespace, name) = (text("namespace").unwrap_or(own), text("name").filter(|_| is_service)?);
        Some((namespace.to_owned(), name.to_owned(), one.get("port")?.as_u64()?))
    };
    rules(route).filter(|rule| matches_header(rule, value)).flat_map(backends).filter_map(place).collect()
}

/// Whether a `ReferenceGrant` lets a route of this kind and namespace lead to a Service of another one.
pub(crate) fn is_granted(
    (kind, namespace): (&str, &str),
    service: WholeService<'_>,
    grants: &[Value],
) -> bool {
    let is = |one: &Value, field: &str, value: &str| {
        one.get(field).and_then(Value::as_str).unwrap_or_default() == value
    };
    grants.iter().filter(|grant| name_of(grant).0 == service.namespace).any(|grant| {
        let from = list(grant.pointer("/spec/from")).iter().any(|from| {
            is(from, "group", GATEWAY_API_GROUP) && is(from, "kind", kind) && is(from, "namespace", namespace)
        });
        from && list(grant.pointer("/spec/to")).iter().any(|to| {
            let every = to.get("name").is_none();
            is(to, "group", "") && is(to, "kind", "Service") && (every || is(to, "name", service.name))
        })
    })
}

/// Whether a rule of a route of the Gateway API leads to pods of every version.
pub(in crate::routing) fn leads_to_whole_service(route: &Value, whole: WholeService<'_>) -> bool {
    rules(route).flat_map(backends).any(|one| is(one, route, whole))
}

fn rules(route: &Value) -> impl Iterator<Item = &Value> {
    route.pointer("/spec/rules").and_then(Value::as_array).into_iter().flatten()
}

/// The backends that get requests.
pub(super) fn backends(rule: &Value) -> impl Iterator<Item = &Value> {
    let all = rule.get("backendRefs").and_then(Value::as_array).into_iter().flatten();
    all.filter(|one| one.get("weight").and_then(Value::as_u64) != Some(0))
}

/// Whether a backend of a route is this Service.
pub(super) fn is(backend: &Value, route: &Value, whole: WholeService<'_>) -> bool {
    let text = |field: &str| backend.get(field).and_then(Value::as_str);
    let own = route.pointer("/metadata/namespace").and_then(Value::as_str);
    text("kind").unwrap_or("Service") == "Service"
        && text("group").unwrap_or_default().is_empty()
        && text("name") == Some(whole.name)
        && text("namespace").or(own) == Some(whole.namespace)
}

fn matches_header(rule: &Value, value: &str) -> bool {
    let routing = HeaderNames::default().routing;
    let matches = rule.get("matches").and_then(Value::as_array).into_iter().flatten();
    let mut headers = matches.filter_map(|one| one.get("headers")?.as_array()).flatten();
    headers.any(|header| {
        let text = |field: &str| header.get(field).and_then(Value::as_str);
        text("name").is_some_and(|name| name.eq_ignore_ascii_case(&routing))
            && text("type").unwrap_or("Exact") == "Exact"
            && text("value") == Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SHOP: WholeService<'_> = WholeService { namespace: "shop", name: "shop" };

    fn route(rules: &Value) -> Value {
        json!({"metadata": {"namespace": "shop", "name": "shop"}, "spec": {"rules": rules}})
    }

    fn by_header(header: &Value, backends: &Value) -> Value {
        route(&json!([{"matches": [{"headers": [header]}], "backendRefs": backends}]))
    }

    #[test]
    fn a_rule_leads_to_the_version_that_its_header_names() {
        let leads = |header: Value, backend: Value| {
            http_route_leads_by_header(&by_header(&header, &json!([backend])), "shop/shop/v2", SHOP)
        };
        let v2 = || json!({"name": "shop-v2", "port": 80});
        assert!(leads(json!({"name": "X-Canary-Version", "value": "shop/shop/v2"}), v2()));
        assert!(leads(json!({"name": "x-canary-version", "type": "Exact", "value": "shop/shop/v2"}), v2()));
        assert!(!leads(json!({"name": "x-canary-version", "value": "shop/shop/v1"}), v2()));
        assert!(!leads(
            json!({"name": "x-canary-version", "type": "RegularExpression", "value": "shop/shop/v2"}),
            v2()
        ));
        assert!(!leads(json!({"name": "x-other", "value": "shop/shop/v2"}), v2()));
        let whole = json!({"name": "shop", "port": 80});
        assert!(
            !leads(json!({"name": "x-canary-version", "value": "shop/shop/v2"}), whole),
            "of every version"
        );
    }

    #[test]
    fn a_rule_leads_to_every_version_if_a_backend_with_weight_is_the_service() {
        let leads =
            |backend: Value| leads_to_whole_service(&route(&json!([{"backendRefs": [backend]}])), SHOP);
        assert!(leads(json!({"name": "shop"})));
        assert!(leads(json!({"name": "shop", "namespace": "shop", "kind": "Service", "weight": 1})));
        for other in [
            json!({"name": "shop", "weight": 0}),
            json!({"name": "shop-v1"}),
            json!({"name": "shop", "namespace": "blog"}),
            json!({"name": "shop", "group": "multicluster.x-k8s.io", "kind": "ServiceImport"}),
        ] {
            assert!(!leads(other.clone()), "{other}");
        }
    }
}
