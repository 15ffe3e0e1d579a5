//! Which of two matches of one parent and hostname goes first.
//!
//! # Source
//! Gateway API 1.7.0, `HTTPRouteRule.matches`: an exact path, then the longest prefix, a method, most headers, most query
//! parameters; between routes the oldest, then the first by `namespace/name`; in a route the first rule, then the first match. The
//! place of regular expressions is up to the implementation. Istio (`sortHTTPRoutes`) orders by the same keys; it compares
//! namespaces before names, and takes a slash from the end of a prefix before it is measured.
//!
//! `GRPCRouteRule.matches`: the longest service, the longest method, most headers, and the same ties. No specification orders rules of
//! both kinds on one hostname: GEP-1016 lets an implementation refuse one kind. Istio 1.30 and later orders all of them by
//! their paths first, and earlier ones serve one kind (istio#59222).

use super::gateway_route::{GatewayRoute, PathMatch, RouteMatch};
use super::route_kind::RouteKind;
use crate::object::NamespacedName;
use std::cmp::{Ordering, Reverse};

/// The keys by which a match is ordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank<'r> {
    kind: RouteKind,
    path: &'r PathMatch,
    /// Method, headers, query parameters: more of them go first.
    counts: Reverse<(bool, usize, usize)>,
    is_implied: bool,
    created: Option<&'r str>,
    route: &'r NamespacedName,
    /// Of the rule, and of the match in it.
    position: (usize, usize),
}

impl<'r> Rank<'r> {
    pub(super) fn new(route: &'r GatewayRoute<'_>, position: (usize, usize), one: &'r RouteMatch) -> Self {
        Self {
            kind: route.kind,
            path: &one.path,
            counts: Reverse((one.method.is_some(), one.headers.len(), one.query.len())),
            is_implied: one.is_implied,
            created: route.created,
            route: &route.name,
            position,
        }
    }

    /// `Less` if this match goes first. None if the specification does not say it, or is read in two ways. Of matches of two kinds it is
    /// known that their paths decide: all with these two paths are in one order, which may be the reverse of this one.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        let by_path = compare_paths(self.path, other.path)?;
        if self.kind != other.kind {
            return Some(by_path).filter(|order| *order != Ordering::Equal);
        }
        let by_match = by_path.then(self.counts.cmp(&other.counts));
        if by_match != Ordering::Equal {
            return Some(by_match);
        }
        if self.is_implied != other.is_implied {
            return None;
        }
        if self.route == other.route {
            return Some(self.position.cmp(&other.position));
        }
        match (self.created, other.created) {
            (Some(one), Some(two)) if one != two => Some(one.cmp(two)),
            (Some(_), None) => Some(Ordering::Less),
            (None, Some(_)) => Some(Ordering::Greater),
            // Those that do not exist yet are created in the order of their names.
            (Some(_), Some(_)) | (None, None) => compare_names(self.route, other.route),
        }
    }
}

/// By namespace and name, if `namespace/name` as one text says the same, and istiod's own names too: they go on with a `~`.
fn compare_names(one: &NamespacedName, other: &NamespacedName) -> Option<Ordering> {
    let text = |(namespace, name): &NamespacedName| format!("{namespace}/{name}");
    let own = |(namespace, name): &NamespacedName| (namespace.clone(), format!("{name}~"));
    let found = one.cmp(other);
    (text(one).cmp(&text(other)) == found && own(one).cmp(&own(other)) == found).then_some(found)
}

fn compare_paths(one: &PathMatch, other: &PathMatch) -> Option<Ordering> {
    match (one, other) {
        (PathMatch::Regex(one), PathMatch::Regex(other)) if one == other => Some(Ordering::Equal),
        (PathMatch::Regex(_), _) | (_, PathMatch::Regex(_)) => None,
        (PathMatch::Exact(one), PathMatch::Exact(other)) => Some(other.len().cmp(&one.len())),
        (PathMatch::Exact(_), PathMatch::Prefix(_) | PathMatch::AnyService(_)) => Some(Ordering::Less),
        (PathMatch::Prefix(_) | PathMatch::AnyService(_), PathMatch::Exact(_)) => Some(Ordering::Greater),
        (PathMatch::AnyService(_), PathMatch::AnyService(_)) => Some(Ordering::Equal),
        (PathMatch::AnyService(_), PathMatch::Prefix(path)) => Some(beside_any_service(path).reverse()),
        (PathMatch::Prefix(path), PathMatch::AnyService(_)) => Some(beside_any_service(path)),
        (PathMatch::Prefix(one), PathMatch::Prefix(other)) => {
            let measured = |path: &str| path.trim_end_matches('/').len();
            let found = measured(other).cmp(&measured(one));
            // One with a slash at the end and one without: longer, or as long.
            (found != Ordering::Equal || one.len() == other.len()).then_some(found)
        }
    }
}

/// The place of a prefix beside a method of any service: a service has characters, every call has none.
fn beside_any_service(prefix: &str) -> Ordering {
    if prefix == "/" { Ordering::Greater } else { Ordering::Less }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn object(name: &str, created: Option<&str>, matches: &Value) -> Value {
        let (namespace, name) = name.split_once('/').unwrap();
        json!({"metadata": {"namespace": namespace, "name": name, "creationTimestamp": created},
            "spec": {"rules": [{"matches": matches}]}})
    }

    fn compare(one: &Value, other: &Value) -> Option<Ordering> {
        let [one, other] = [GatewayRoute::read(one).unwrap(), GatewayRoute::read(other).unwrap()];
        let rank = |route| Rank::new(route, (0, 0), &route.rules[0].matches[0]);
        let found = rank(&one).compare(&rank(&other));
        assert_eq!(rank(&other).compare(&rank(&one)), found.map(Ordering::reverse));
        found
    }

    #[test]
    fn matches_go_in_the_order_of_the_specification() {
        let headers = |count: usize| {
            let all: Vec<Value> =
                (0..count).map(|n| json!({"name": format!("h{n}"), "value": "x"})).collect();
            json!(all)
        };
        let in_order = [
            json!({"path": {"type": "Exact", "value": "/a"}}),
            json!({"path": {"value": "/a/b"}}),
            json!({"path": {"value": "/a"}, "method": "GET"}),
            json!({"path": {"value": "/a"}, "headers": headers(2)}),
            json!({"path": {"value": "/a"}, "headers": headers(1), "queryParams": headers(1)}),
            json!({"path": {"value": "/a"}, "headers": headers(1)}),
            json!({"path": {"value": "/a"}, "queryParams": headers(2)}),
            json!({"path": {"value": "/a"}}),
            json!({}),
        ];
        for (at, one) in in_order.iter().enumerate() {
            for other in &in_order[at + 1..] {
                // The younger one has the precedence all the same.
                let one = object("shop/z", Some("2026-02-01T00:00:00Z"), &json!([one]));
                let other = object("shop/a", Some("2026-01-01T00:00:00Z"), &json!([other]));
                assert_eq!(compare(&one, &other), Some(Ordering::Less), "{one} {other}");
            }
        }
    }

    fn of_kind(kind: &str, name: &str, created: Option<&str>, rule: &Value) -> Value {
        let mut object = object(name, created, &json!([]));
        object["kind"] = json!(kind);
        object["spec"]["rules"] = json!([rule]);
        object
    }

    #[test]
    fn calls_go_in_the_order_of_the_specification() {
        let call = |service: Option<&str>, method: Option<&str>, headers: usize| {
            let all: Vec<Value> =
                (0..headers).map(|n| json!({"name": format!("h{n}"), "value": "x"})).collect();
            json!({"method": {"service": service, "method": method}, "headers": all})
        };
        let in_order = [
            call(Some("a.B"), Some("C"), 1),
            call(Some("a.B"), Some("C"), 0),
            call(Some("a.B"), None, 2),
            call(None, Some("Long"), 1),
            call(None, Some("Long"), 0),
            json!({"headers": [{"name": "h", "value": "x"}]}),
            json!({}),
        ];
        for (at, one) in in_order.iter().enumerate() {
            for other in &in_order[at + 1..] {
                let route = |name: &str, created: &str, one: &Value| {
                    of_kind("GRPCRoute", name, Some(created), &json!({"matches": [one]}))
                };
                let one = route("shop/z", "2026-02-01T00:00:00Z", one);
                let other = route("shop/a", "2026-01-01T00:00:00Z", other);
                assert_eq!(compare(&one, &other), Some(Ordering::Less), "{one} {other}");
            }
        }
        // To istiod a rule without matches is after one that is empty, whichever is older.
        let january = Some("2026-01-01T00:00:00Z");
        let implied = of_kind("GRPCRoute", "shop/a", january, &json!({}));
        let empty = of_kind("GRPCRoute", "shop/b", january, &json!({"matches": [{}]}));
        assert_eq!(compare(&implied, &empty), None);
    }

    #[test]
    fn of_two_kinds_it_is_known_whether_paths_decide() {
        let http = |path: &str| {
            of_kind("HTTPRoute", "shop/a", None, &json!({"matches": [{"path": {"value": path}}]}))
        };
        let grpc = |one: Value| of_kind("GRPCRoute", "shop/b", None, &json!({"matches": [one]}));
        let service = || json!({"method": {"service": "a.B"}});
        assert!(compare(&http("/"), &grpc(service())).is_some());
        assert!(compare(&http("/a.B/C"), &grpc(service())).is_some());
        assert!(
            compare(&http("/a.B"), &grpc(json!({"method": {"service": "a.B", "method": "C"}}))).is_some()
        );
        assert!(compare(&http("/"), &grpc(json!({"method": {"method": "C"}}))).is_some());
        assert_eq!(compare(&http("/a.B"), &grpc(service())), None);
        assert_eq!(compare(&http("/a.B/"), &grpc(service())), None);
        assert_eq!(compare(&http("/"), &grpc(json!({}))), None);
    }

    #[test]
    fn of_equal_matches_the_older_route_goes_first_then_the_first_by_name() {
        let route = |name: &str, created: Option<&str>| object(name, created, &json!([{}]));
        let (january, february) = (Some("2026-01-01T00:00:00Z"), Some("2026-02-01T00:00:00Z"));
        let less = Some(Ordering::Less);
        assert_eq!(compare(&route("shop/z", january), &route("shop/a", february)), less);
        assert_eq!(
            compare(&route("shop/z", january), &route("shop/a", None)),
            less,
            "one that is to be created"
        );
        assert_eq!(compare(&route("shop/a", january), &route("shop/b", january)), less);
        assert_eq!(compare(&route("a/z", january), &route("b/a", january)), less);
        assert_eq!(compare(&route("shop/x-00", None), &route("shop/x-01", None)), less);
        // `a-b/x` is before `a/x` as one text, and after it by namespace.
        assert_eq!(compare(&route("a/x", january), &route("a-b/x", january)), None);
        // To istiod these are `a~0` and `a-b~0`.
        assert_eq!(compare(&route("shop/a", january), &route("shop/a-b", january)), None);
    }

    #[test]
    fn the_order_of_regular_expressions_and_of_slashes_at_the_end_is_not_known() {
        let route = |path: Value| object("shop/a", None, &json!([{"path": path}]));
        let regex = |value: &str| route(json!({"type": "RegularExpression", "value": value}));
        let prefix = |value: &str| route(json!({"type": "PathPrefix", "value": value}));
        assert_eq!(compare(&regex("/a.*"), &prefix("/a")), None);
        assert_eq!(compare(&regex("/a.*"), &regex("/b.*")), None);
        assert_eq!(compare(&prefix("/a/"), &prefix("/a")), None);
        assert_eq!(compare(&prefix("/a/"), &prefix("/ab")), Some(Ordering::Greater));
    }
}
