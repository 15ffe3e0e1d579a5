//! Whether a route object leads to a version: by our header, or by its subset.

use crate::spec::ServiceHost;
use assignment::contract::HeaderNames;
use serde_json::Value;
use std::collections::BTreeSet;

/// Whether one of its routes is taken when our header has this value.
pub fn leads_by_header(object: &Value, value: &str) -> bool {
    let path = format!("/headers/{}/exact", HeaderNames::default().routing);
    let routes = object.pointer("/spec/http").and_then(Value::as_array).into_iter().flatten();
    let matches = routes.filter_map(|route| route.get("match")?.as_array()).flatten();
    matches.filter_map(|one| one.pointer(&path)?.as_str()).any(|found| found == value)
}

/// The ports that are named in its routes for this value of our header. A route that names none leads to the port that was called.
pub fn ports_by_header(object: &Value, value: &str) -> BTreeSet<u64> {
    let path = format!("/headers/{}/exact", HeaderNames::default().routing);
    let routes = object.pointer("/spec/http").and_then(Value::as_array).into_iter().flatten();
    let is_ours = |route: &&Value| {
        let matches = route.get("match").and_then(Value::as_array).into_iter().flatten();
        matches.filter_map(|one| one.pointer(&path)?.as_str()).any(|found| found == value)
    };
    let destinations = routes.filter(is_ours).filter_map(|route| route.get("route")?.as_array()).flatten();
    destinations.filter_map(|one| one.pointer("/destination/port/number")?.as_u64()).collect()
}

/// Whether one of its routes leads to this subset of a Service. Mirrors do not count. `namespace` is that of the
/// `VirtualService`.
pub fn leads_to_subset(object: &Value, namespace: &str, service: &ServiceHost, subset: &str) -> bool {
    let routes = object.pointer("/spec/http").and_then(Value::as_array).into_iter().flatten();
    let mut destinations = routes.filter_map(|route| route.get("route")?.as_array()).flatten();
    destinations.any(|one| {
        let text = |field: &str| one.pointer(&format!("/destination/{field}")).and_then(Value::as_str);
        service.matches(text("host").unwrap_or_default(), namespace) && text("subset") == Some(subset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_route_leads_to_a_subset_of_the_service_that_its_host_resolves_to() {
        let shop = ServiceHost::new("shop", "shop");
        let leads_to = |body: &Value, subset: &str| leads_to_subset(body, "shop", &shop, subset);
        let body = |host: &str| json!({"spec": {"http": [{"route": [{"destination": {"host": host, "subset": "v1"}}]}]}});
        assert!(leads_to(&body("shop"), "v1"));
        assert!(leads_to(&body("shop.shop.svc.cluster.local"), "v1"));
        assert!(!leads_to(&body("shop.other.svc.cluster.local"), "v1"), "a Service of another namespace");
        assert!(!leads_to(&body("blog"), "v1"));
        assert!(!leads_to(&body("shop"), "v2"));
    }

    #[test]
    fn the_ports_are_those_of_the_routes_for_the_header() {
        let to = |value: &str, port: &Value| {
            json!({"match": [{"headers": {"x-canary-version": {"exact": value}}}],
                "route": [{"destination": {"host": "shop", "port": port}}]})
        };
        let body = json!({"spec": {"http": [
            to("shop/shop/v2", &json!({"number": 80})), to("shop/shop/v2", &json!(null)), to("shop/shop/v1", &json!({"number": 81})),
        ]}});
        assert_eq!(ports_by_header(&body, "shop/shop/v2"), BTreeSet::from([80]));
    }

    #[test]
    fn a_route_leads_to_the_version_that_its_header_names_and_to_no_other() {
        let body = json!({"spec": {"http": [
            {"match": [{"uri": {"prefix": "/"}, "headers": {"x-canary-version": {"exact": "shop/shop/v2"}}}]},
            {"route": []},
        ]}});
        assert!(leads_by_header(&body, "shop/shop/v2"));
        assert!(!leads_by_header(&body, "shop/shop/v1"));
    }
}
