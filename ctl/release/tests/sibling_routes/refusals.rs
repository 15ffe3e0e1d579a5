//! What is refused, each by name, and all of it at once.

use super::kit::{created, edge, gateway, grant, grpc_route, route, rule, siblings};
use serde_json::{Value, json};
use std::slice::from_ref;

/// The refusals of routes, as texts.
fn refused(routes: &[Value]) -> Vec<String> {
    refused_with(routes, &[])
}

fn refused_with(routes: &[Value], grants: &[Value]) -> Vec<String> {
    let found = siblings(routes, &[edge()], grants).unwrap_err();
    found.iter().map(ToString::to_string).collect()
}

fn one(rule: &Value) -> Vec<String> {
    refused(&[route("shop/web", &json!([rule]))])
}

fn header(name: &str) -> Value {
    json!({"name": name, "value": "1"})
}

#[test]
fn a_rule_that_splits_requests_between_the_service_and_others_is_refused() {
    let mut split = rule(&json!([{}]), "shop");
    split["backendRefs"].as_array_mut().unwrap().push(json!({"name": "blog", "port": 80, "weight": 5}));
    let expected =
        "`spec.rules[0]` of HTTPRoute shop/web splits requests between the Service and other backends";
    assert_eq!(one(&split), [expected]);
}

#[test]
fn a_regular_expression_to_the_service_is_refused() {
    let path = json!([{"path": {"type": "RegularExpression", "value": "/a.*"}}]);
    let [found] = one(&rule(&path, "shop")).try_into().unwrap();
    assert!(found.contains("matches paths by a regular expression"), "{found}");
}

#[test]
fn a_regular_expression_for_calls_to_the_service_is_refused() {
    let matches = json!([{"method": {"type": "RegularExpression", "service": "shop[.].*"}}]);
    let found = refused(&[grpc_route("shop/calls", &json!([rule(&matches, "shop")]))]);
    let expected = "`spec.rules[0]` of GRPCRoute shop/calls matches methods by a regular expression, and no specification says which \
        rules it precedes";
    assert_eq!(found, [expected]);
}

#[test]
fn rules_of_both_kinds_whose_order_no_specification_says_are_refused() {
    let order = |kinds: [(&str, &str); 2]| {
        let [one, other] = kinds.map(|(kind, name)| format!("`spec.rules[0]` of {kind} {name}"));
        format!("no specification says whether {one} or {other} gets requests that match both")
    };
    let calls = |matches: &Value, service: &str| grpc_route("shop/calls", &json!([rule(matches, service)]));
    let site = |matches: &Value, service: &str| route("shop/site", &json!([rule(matches, service)]));
    let (grpc, http) = (("GRPCRoute", "shop/calls"), ("HTTPRoute", "shop/site"));
    let path = |kind: &str, value: &str| json!([{"path": {"type": kind, "value": value}}]);
    let cart = json!([{"method": {"service": "shop.Cart", "method": "Pay"}}]);
    let all = json!([{}]);
    let pay = path("Exact", "/shop.Cart/Pay");
    for (owners, expected) in [
        ([calls(&cart, "shop"), site(&pay, "blog")], order([grpc, http])),
        ([calls(&cart, "blog"), site(&pay, "shop")], order([http, grpc])),
        ([calls(&all, "shop"), site(&path("PathPrefix", "/"), "blog")], order([grpc, http])),
        ([calls(&all, "shop"), site(&path("RegularExpression", "/a"), "blog")], order([grpc, http])),
    ] {
        assert_eq!(refused(&owners), [expected], "{owners:#?}");
    }
    let mut elsewhere = site(&pay, "blog");
    elsewhere["spec"]["hostnames"] = json!(["blog.example"]);
    assert!(siblings(&[calls(&cart, "shop"), elsewhere], &[edge()], &[]).is_ok(), "another hostname");
}

#[test]
fn routes_of_the_same_second_of_which_one_has_the_beginning_of_the_others_name_are_refused() {
    // To the specification `shop/web` is the first one; istiod compares `web~` and `web-blog~`.
    let header = |name: &str| json!([{"headers": [header(name)]}]);
    let to_shop = route("shop/web", &json!([rule(&header("x-a"), "shop")]));
    let to_blog = route("shop/web-blog", &json!([rule(&header("x-b"), "blog")]));
    let [found] = refused(&[to_shop.clone(), to_blog.clone()]).try_into().unwrap();
    assert!(found.starts_with("no specification says whether"), "{found}");
    let later = created(to_blog, "2026-01-01T00:00:01Z");
    assert!(siblings(&[to_shop, later], &[edge()], &[]).is_ok());
}

#[test]
fn a_regular_expression_to_others_is_refused_only_where_requests_may_match_both() {
    let path = |headers: &Value| json!([{"path": {"type": "RegularExpression", "value": "/a.*"}, "headers": headers}]);
    let to_shop = rule(&json!([{"headers": [{"name": "x-a", "value": "1"}]}]), "shop");
    let rules = |value: &str| {
        json!([to_shop.clone(), rule(&path(&json!([{"name": "x-a", "value": value}])), "blog")])
    };
    let expected = "no specification says whether `spec.rules[0]` of HTTPRoute shop/web or `spec.rules[1]` of \
        HTTPRoute shop/web gets requests that match both";
    assert_eq!(refused(&[route("shop/web", &rules("1"))]), [expected]);
    assert!(siblings(&[route("shop/web", &rules("2"))], &[edge()], &[]).is_ok());
}

#[test]
fn fields_that_cannot_be_repeated_are_refused_by_name() {
    let with = |field: &str, value: Value| {
        let mut found = rule(&json!([{}]), "shop");
        found[field] = value;
        found
    };
    let rule_of = "`spec.rules[0]` of HTTPRoute shop/web has";
    for (rule, field) in [
        (with("sessionPersistence", json!({})), "sessionPersistence"),
        (
            with("backendRefs", json!([{"name": "shop", "port": 80, "fallback": true}])),
            "backendRefs.fallback",
        ),
        (with("matches", json!([{"cookies": []}])), "matches.cookies"),
        (with("matches", json!([{"path": {"type": "Glob", "value": "/*"}}])), "matches.path.type: Glob"),
        (
            with("matches", json!([{"headers": [{"name": "a", "value": "1", "type": "Present"}]}])),
            "matches.headers.type: Present",
        ),
    ] {
        assert_eq!(one(&rule), [format!("{rule_of} `{field}`, which cannot be repeated for a version")]);
    }
    for (matches, field) in [
        (json!([{"path": {"value": "/"}}]), "matches.path"),
        (json!([{"method": {"service": "a", "type": "Glob"}}]), "matches.method.type: Glob"),
    ] {
        let found = refused(&[grpc_route("shop/calls", &json!([rule(&matches, "shop")]))]);
        let place = "`spec.rules[0]` of GRPCRoute shop/calls";
        assert_eq!(found, [format!("{place} has `{field}`, which cannot be repeated for a version")]);
    }
}

#[test]
fn a_match_on_the_routing_header_is_refused() {
    let [found] = one(&rule(&json!([{"headers": [header("X-Canary-Version")]}]), "shop")).try_into().unwrap();
    assert!(found.ends_with("matches the filter's header itself"), "{found}");
}

#[test]
fn a_match_with_sixteen_headers_is_refused() {
    let headers = |count: usize| {
        let all: Vec<Value> = (0..count).map(|number| header(&format!("h{number}"))).collect();
        rule(&json!([{"headers": all}]), "shop")
    };
    let [found] = one(&headers(16)).try_into().unwrap();
    assert!(found.contains("has a match with 16 headers"), "{found}");
    assert!(siblings(&[route("shop/web", &json!([headers(15)]))], &[edge()], &[]).is_ok());
}

#[test]
fn a_route_of_another_namespace_is_refused_where_a_listener_admits_none_of_the_services() {
    let mut to_shop = rule(&json!([{}]), "shop");
    to_shop["backendRefs"][0]["namespace"] = json!("shop");
    let routes = [route("team/web", &json!([to_shop]))];
    let every = [grant(&json!({"group": "", "kind": "Service"}))];
    let selector = |team: &str| json!({"from": "Selector", "selector": {"matchLabels": {"team": team}}});
    let listeners = json!([
        {"name": "all", "port": 80, "allowedRoutes": {"namespaces": {"from": "All"}}},
        {"name": "team", "port": 81, "allowedRoutes": {"namespaces": selector("team")}},
        {"name": "shop", "port": 82, "allowedRoutes": {"namespaces": selector("shop")}},
    ]);
    let found = siblings(&routes, &[gateway("edge", &listeners)], &every).unwrap_err();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    let expected = "`allowedRoutes` of listener `team` of Gateway ingress/edge admits `spec.rules[0]` of HTTPRoute team/web, and no HTTPRoute \
        of namespace `shop`";
    assert_eq!(found, [expected]);
}

#[test]
fn filters_that_may_name_objects_of_another_namespace_are_refused_there() {
    let grants = [grant(&json!({"group": "", "kind": "Service"}))];
    for kind in ["RequestMirror", "ExtensionRef", "ExternalAuth"] {
        let backends = json!([{"name": "shop", "namespace": "shop", "port": 80}]);
        let filters = json!([{"type": "URLRewrite"}, {"type": kind}]);
        let mut far = route("team/web", &json!([{"filters": filters, "backendRefs": backends}]));
        let expected = format!(
            "`spec.rules[0]` of HTTPRoute team/web has a filter `{kind}`, which may name objects that routes of namespace `shop` may not"
        );
        assert_eq!(refused_with(from_ref(&far), &grants), from_ref(&expected));
        let rule = &mut far["spec"]["rules"][0];
        rule["backendRefs"][0]["filters"] = rule["filters"].take();
        rule.as_object_mut().unwrap().remove("filters");
        assert_eq!(refused_with(from_ref(&far), &grants), [expected]);
        far["metadata"]["namespace"] = json!("shop");
        assert!(siblings(&[far], &[edge()], &[]).is_ok(), "in its own namespace");
    }
}

#[test]
fn a_version_that_would_take_requests_of_a_rule_before_the_owners_is_refused() {
    // A query parameter to others precedes the rule to the Service; a header more precedes both.
    let rules = json!([
        rule(&json!([{"queryParams": [{"name": "beta", "value": "1"}]}]), "blog"),
        rule(&json!([{}]), "shop"),
    ]);
    let expected = "a route to a version beside `spec.rules[1]` of HTTPRoute shop/web would take requests of \
        `spec.rules[0]` of HTTPRoute shop/web";
    assert_eq!(refused(&[route("shop/web", &rules)]), [expected]);
    // Both lead to the Service: each has a route for the version.
    let both = json!([
        rule(&json!([{"queryParams": [{"name": "beta", "value": "1"}]}]), "shop"),
        rule(&json!([{}]), "shop"),
    ]);
    assert!(siblings(&[route("shop/web", &both)], &[edge()], &[]).is_ok());
}

#[test]
fn a_header_of_others_precedes_ours_as_long_as_their_route_is_older() {
    let to_blog = route("shop/blog", &json!([rule(&json!([{"headers": [header("x-beta")]}]), "blog")]));
    let to_shop = route("shop/web", &json!([rule(&json!([{}]), "shop")]));
    let owners = [to_blog.clone(), to_shop.clone()];
    let ours = siblings(&owners, &[edge()], &[]).unwrap();
    let ours = created(ours[0].clone(), "2026-02-01T00:00:00Z");
    let again = created(to_blog, "2026-03-01T00:00:00Z");
    let [found] = refused(&[again, to_shop, ours]).try_into().unwrap();
    assert!(found.contains("would take requests of `spec.rules[0]` of HTTPRoute shop/blog"), "{found}");
}

#[test]
fn routes_of_the_same_second_in_namespaces_that_are_ordered_in_two_ways_are_refused() {
    let mut to_shop = rule(&json!([{}]), "shop");
    to_shop["backendRefs"][0]["namespace"] = json!("shop");
    let (one, other) =
        (route("team/web", &json!([to_shop])), route("team-b/web", &json!([rule(&json!([{}]), "blog")])));
    let every = grant(&json!({"group": "", "kind": "Service"}));
    let [found] = refused_with(&[one, other], &[every]).try_into().unwrap();
    assert!(found.starts_with("no specification says whether"), "{found}");
}

#[test]
fn more_objects_than_names_can_number_are_refused() {
    let routes: Vec<Value> = (0..101)
        .map(|number| {
            let mut one = route(&format!("shop/r{number:03}"), &json!([rule(&json!([{}]), "shop")]));
            one["spec"]["hostnames"] = json!([format!("h{number}.example")]);
            one
        })
        .collect();
    let expected = "expected at most 100 HTTPRoutes of our own in namespace `shop`, found 101";
    assert_eq!(refused(&routes), [expected]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let mut split = rule(&json!([{"headers": [header("x-canary-version")]}]), "shop");
    split["backendRefs"].as_array_mut().unwrap().push(json!({"name": "blog", "port": 80}));
    let regex = rule(&json!([{"path": {"type": "RegularExpression", "value": "/a"}}]), "shop");
    let found = refused(&[route("shop/a", &json!([split])), route("shop/b", &json!([regex]))]);
    assert_eq!(found.len(), 3, "{found:#?}");
}
