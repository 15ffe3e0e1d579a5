//! Whether a request can match two matches. Where that is not known – regular expressions are not evaluated – it can.

use super::gateway_route::{PathMatch, RouteMatch, ValueMatch};

/// Whether some request matches both.
pub(super) fn overlap(one: &RouteMatch, other: &RouteMatch) -> bool {
    let same_method = match (&one.method, &other.method) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => true,
    };
    same_method
        && paths_overlap(&one.path, &other.path)
        && values_overlap(&one.headers, &other.headers)
        && values_overlap(&one.query, &other.query)
}

fn paths_overlap(one: &PathMatch, other: &PathMatch) -> bool {
    match (one, other) {
        (PathMatch::Regex(_), _)
        | (_, PathMatch::Regex(_))
        | (PathMatch::AnyService(_), PathMatch::Prefix(_))
        | (PathMatch::Prefix(_), PathMatch::AnyService(_)) => true,
        (PathMatch::Exact(one), PathMatch::Exact(other))
        | (PathMatch::AnyService(one), PathMatch::AnyService(other)) => one == other,
        (PathMatch::Exact(path), PathMatch::Prefix(prefix))
        | (PathMatch::Prefix(prefix), PathMatch::Exact(path)) => starts_with(path, prefix),
        (PathMatch::Prefix(one), PathMatch::Prefix(other)) => {
            starts_with(one, other) || starts_with(other, one)
        }
        (PathMatch::AnyService(method), PathMatch::Exact(path))
        | (PathMatch::Exact(path), PathMatch::AnyService(method)) => {
            path.rsplit('/').next() == Some(method.as_str())
        }
    }
}

/// Whether a path starts with whole segments of a prefix, whose slash at the end does not count.
fn starts_with(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.trim_end_matches('/') == prefix
        || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
}

fn values_overlap(one: &[ValueMatch], other: &[ValueMatch]) -> bool {
    one.iter().all(|one| {
        let mut same_name = other.iter().filter(|other| other.name == one.name);
        same_name.all(|other| one.is_regex || other.is_regex || one.value == other.value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::gateway_api::gateway_route::GatewayRoute;
    use serde_json::{Value, json};

    fn both(one: &Value, other: &Value) -> bool {
        let object = json!({"spec": {"rules": [{"matches": [one, other]}]}});
        let route = GatewayRoute::read(&object).unwrap();
        let [one, other] = route.rules[0].matches.as_slice() else { panic!("{route:?}") };
        assert_eq!(overlap(one, other), overlap(other, one), "{one:?} {other:?}");
        overlap(one, other)
    }

    #[test]
    fn paths_overlap_by_whole_segments() {
        let prefix = |value: &str| json!({"path": {"type": "PathPrefix", "value": value}});
        let exact = |value: &str| json!({"path": {"type": "Exact", "value": value}});
        let regex = |value: &str| json!({"path": {"type": "RegularExpression", "value": value}});
        assert!(both(&prefix("/"), &exact("/cart")));
        assert!(both(&json!({}), &exact("/")), "without a path it is every path");
        assert!(both(&prefix("/cart"), &prefix("/cart/items")));
        assert!(both(&prefix("/cart/"), &exact("/cart")));
        assert!(!both(&prefix("/cart"), &prefix("/cartoon")));
        assert!(!both(&prefix("/cart"), &exact("/cartoon")));
        assert!(!both(&exact("/cart"), &exact("/cart/")));
        assert!(both(&regex("/a"), &exact("/b")), "not evaluated");
    }

    #[test]
    fn calls_overlap_by_service_and_method() {
        let both = |one: &Value, other: &Value| {
            let object = json!({"kind": "GRPCRoute", "spec": {"rules": [{"matches": [one, other]}]}});
            let route = GatewayRoute::read(&object).unwrap();
            overlap(&route.rules[0].matches[0], &route.rules[0].matches[1])
        };
        let call = |service: Option<&str>, method: Option<&str>| json!({"method": {"service": service, "method": method}});
        let (pay, refund) = (call(Some("shop.Cart"), Some("Pay")), call(Some("shop.Cart"), Some("Refund")));
        assert!(both(&pay, &call(Some("shop.Cart"), None)));
        assert!(both(&pay, &call(None, Some("Pay"))));
        assert!(both(&call(Some("shop.Cart"), None), &call(None, Some("Pay"))));
        assert!(both(&pay, &json!({})), "without a method it is every call");
        assert!(!both(&pay, &refund));
        assert!(!both(&refund, &call(None, Some("Pay"))));
        assert!(!both(&pay, &call(Some("shop.Carts"), None)));
    }

    #[test]
    fn values_and_methods_that_differ_exclude_each_other() {
        let header = |name: &str, value: &str| json!({"headers": [{"name": name, "value": value}]});
        assert!(both(&header("a", "1"), &header("b", "2")));
        assert!(!both(&header("a", "1"), &header("A", "2")), "names of headers have no case");
        assert!(both(
            &header("a", "1"),
            &json!({"headers": [{"name": "a", "type": "RegularExpression", "value": "2"}]})
        ));
        let query = |name: &str, value: &str| json!({"queryParams": [{"name": name, "value": value}]});
        assert!(!both(&query("a", "1"), &query("a", "2")));
        assert!(both(&query("a", "1"), &query("A", "2")), "names of query parameters have case");
        assert!(!both(&json!({"method": "GET"}), &json!({"method": "PUT"})));
        assert!(both(&json!({"method": "GET"}), &json!({})));
        let twice = json!({"headers": [{"name": "a", "value": "1"}, {"name": "A", "value": "2"}]});
        assert!(!both(&twice, &header("a", "2")), "the first of equal names counts");
    }
}
