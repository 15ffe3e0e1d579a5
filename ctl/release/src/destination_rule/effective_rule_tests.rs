//! Which rule applies to which client: each of istiod's steps decides in one test.

use super::{CalledService, Client, Effective, HostRule, effective};
use serde_json::{Value, json};

const HOST: &str = "shop.shop.svc.cluster.local";
const CALLED: CalledService<'static> = CalledService { host: HOST, namespace: "shop" };

/// `<namespace>/<name>`, made at this second.
pub(crate) fn rule(name: &str, second: u32, spec: &Value) -> HostRule {
    let (namespace, name) = name.split_once('/').unwrap();
    let created = format!("2026-11-21T00:00:{second:02}Z");
    HostRule::of(&json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": {"namespace": namespace, "name": name, "creationTimestamp": created},
        "spec": spec,
    }))
    .unwrap()
}

pub(crate) fn client(namespace: &str, labels: &[(&str, &str)]) -> Client {
    let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Client { namespace: namespace.to_owned(), labels }
}

fn found(rules: &[HostRule], namespace: &str) -> Option<Effective> {
    effective(rules, &client(namespace, &[("istio", "gateway")]), CALLED)
}

fn names(rule: Option<Effective>) -> Vec<String> {
    rule.into_iter()
        .flat_map(|rule| rule.from)
        .map(|from| format!("{}/{}", from.namespace, from.name))
        .collect()
}

#[test]
fn the_clients_namespace_comes_before_the_services_and_that_before_the_root() {
    let of = |name: &str| rule(name, 0, &json!({"host": HOST}));
    let all = [of("istio-system/a"), of("shop/b"), of("ingress/c"), of("other/d")];
    assert_eq!(names(found(&all, "ingress")), ["ingress/c"]);
    assert_eq!(names(found(&all, "nobody")), ["shop/b"]);
    assert_eq!(names(found(&[of("istio-system/a"), of("other/d")], "nobody")), ["istio-system/a"]);
    assert_eq!(names(found(&[of("other/d")], "nobody")), [""; 0]);
}

#[test]
fn a_wildcard_of_the_clients_namespace_takes_the_place_of_an_exact_host_of_the_services() {
    let all =
        [rule("ingress/wide", 0, &json!({"host": "*.local"})), rule("shop/b", 0, &json!({"host": HOST}))];
    assert_eq!(names(found(&all, "ingress")), ["ingress/wide"]);
}

#[test]
fn in_one_namespace_the_exact_host_comes_first_and_then_the_longest_wildcard() {
    let of = |name: &str, host: &str| rule(name, 0, &json!({"host": host}));
    let wide = [of("shop/a", "*"), of("shop/b", "*.shop.svc.cluster.local"), of("shop/c", "*.local")];
    assert_eq!(names(found(&wide, "ingress")), ["shop/b"]);
    let exact = [wide[1].clone(), of("shop/d", "shop")];
    assert_eq!(names(found(&exact, "ingress")), ["shop/d"], "a short name is completed");
    let dotted = [of("shop/e", "shop.shop"), of("shop/f", "*.other.svc.cluster.local")];
    assert_eq!(names(found(&dotted, "ingress")), [""; 0], "a name with a dot is not");
}

#[test]
fn proxies_of_the_root_namespace_look_at_the_services_rules_first() {
    let all = [
        rule("istio-system/wide", 0, &json!({"host": "*.local"})),
        rule("shop/b", 0, &json!({"host": HOST})),
    ];
    assert_eq!(names(found(&all, "istio-system")), ["shop/b"]);
    let private = rule("istio-system/own", 0, &json!({"host": "*.local", "exportTo": ["."]}));
    assert_eq!(names(found(&[private, all[1].clone()], "istio-system")), ["istio-system/own"]);
}

#[test]
fn a_rule_is_seen_where_it_is_exported_to() {
    let of = |to: Value| [rule("shop/b", 0, &json!({"host": HOST, "exportTo": to}))];
    for to in [json!([]), json!(["*"]), json!(["ingress"]), json!([".", "ingress"])] {
        assert_eq!(names(found(&of(to.clone()), "ingress")), ["shop/b"], "{to}");
    }
    for to in [json!(["."]), json!(["shop"]), json!(["elsewhere"])] {
        assert_eq!(names(found(&of(to.clone()), "ingress")), [""; 0], "{to}");
    }
    assert_eq!(names(found(&of(json!(["."])), "shop")), ["shop/b"]);
}

#[test]
fn rules_of_one_host_are_merged_the_oldest_first() {
    let subset = |name: &str, version: &str| json!({"name": name, "labels": {"version": version}});
    let all = [
        rule(
            "shop/young",
            2,
            &json!({"host": HOST, "trafficPolicy": {"young": 1},
            "subsets": [subset("v1", "young"), subset("v2", "v2")]}),
        ),
        rule(
            "shop/old",
            1,
            &json!({"host": HOST, "trafficPolicy": {"old": 1}, "subsets": [subset("v1", "v1")]}),
        ),
        rule("shop/oldest", 0, &json!({"host": HOST})),
    ];
    let rule = found(&all, "ingress").unwrap();
    assert_eq!(rule.policy, Some(json!({"old": 1})), "the first that there is");
    assert_eq!(rule.subsets, [subset("v1", "v1"), subset("v2", "v2")]);
    assert_eq!(names(Some(rule)), ["shop/oldest", "shop/old", "shop/young"]);
}

#[test]
fn rules_that_are_exported_differently_are_not_merged_and_the_youngest_is_the_one() {
    let all = [
        rule("shop/a", 0, &json!({"host": HOST, "exportTo": ["*"]})),
        rule("shop/b", 1, &json!({"host": HOST})),
    ];
    assert_eq!(names(found(&all, "ingress")), ["shop/b"]);
    let same = [all[0].clone(), rule("shop/b", 1, &json!({"host": HOST, "exportTo": ["*"]}))];
    assert_eq!(names(found(&same, "ingress")), ["shop/a", "shop/b"]);
}

#[test]
fn a_rule_for_some_pods_of_a_namespace_is_theirs_and_hides_what_other_namespaces_have() {
    let selector = json!({"matchLabels": {"istio": "gateway"}});
    let some = rule("ingress/some", 1, &json!({"host": HOST, "workloadSelector": selector}));
    let all = [
        rule("ingress/all", 0, &json!({"host": HOST})),
        some.clone(),
        rule("shop/b", 0, &json!({"host": HOST})),
    ];
    assert_eq!(names(found(&all, "ingress")), ["ingress/some"]);
    let other = client("ingress", &[("istio", "other")]);
    assert_eq!(names(effective(&all, &other, CALLED)), ["ingress/all"]);
    let none = effective(&[some, all[2].clone()], &other, CALLED).unwrap();
    assert_eq!((none.policy, none.subsets.len()), (None, 0), "no other namespace is asked");
}
