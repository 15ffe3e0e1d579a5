//! What becomes of our rule among others, and where it has no place.

use super::effective_rule_tests::{client, rule};
use super::{CalledService, HostRule, RuleConflict, merge_rule};
use crate::object::{Object, Reference, Stage};
use serde_json::{Value, json};

const HOST: &str = "shop.shop.svc.cluster.local";

fn subset(version: &str) -> Value {
    json!({"name": version, "labels": {"version": version}})
}

/// Our rule, with `sessionAffinity: identity` where there is a hash.
fn ours(hash: Option<&Value>) -> Object {
    let mut spec = json!({"host": HOST, "subsets": [subset("v1"), subset("v2")]});
    if let Some(hash) = hash {
        spec["trafficPolicy"] = json!({"loadBalancer": {"consistentHash": hash}});
    }
    let body = json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": {"namespace": "shop", "name": "shop-canary"},
        "spec": spec,
    });
    Object { reference: Reference::of(&body).unwrap(), stage: Stage::Subsets, body }
}

fn among(rules: &[HostRule], hash: Option<&Value>) -> Result<Value, RuleConflict> {
    let mut ours = ours(hash);
    let called = CalledService { host: HOST, namespace: "shop" };
    merge_rule(&mut ours, rules, &[client("ingress", &[("istio", "gateway")])], called)?;
    Ok(ours.body["spec"].take())
}

fn by_header() -> Value {
    json!({"httpHeaderName": "x-canary-id"})
}

fn by_cookie() -> Value {
    json!({"loadBalancer": {"consistentHash": {"httpCookie": {"name": "affinity", "ttl": "0s"}}}})
}

#[test]
fn alone_our_rule_is_what_the_release_asks_for() {
    for hash in [None, Some(by_header())] {
        assert_eq!(among(&[], hash.as_ref()).unwrap(), ours(hash.as_ref()).body["spec"]);
    }
}

#[test]
fn the_policy_of_the_host_is_taken_over_from_wherever_it_comes() {
    let tls = json!({"tls": {"mode": "DISABLE"}});
    for (name, host) in
        [("istio-system/mesh", "*.local"), ("shop/wide", "*.shop.svc.cluster.local"), ("shop/old", HOST)]
    {
        let there = [rule(name, 0, &json!({"host": host, "trafficPolicy": tls}))];
        let found = among(&there, None).unwrap();
        assert_eq!(found["trafficPolicy"], tls, "{name}");
        assert_eq!(found["subsets"], json!([subset("v1"), subset("v2")]), "{name}");
    }
}

#[test]
fn a_session_policy_of_the_host_is_kept_and_ours_is_for_hosts_without_one() {
    let there = [rule("shop/old", 0, &json!({"host": HOST, "trafficPolicy": by_cookie()}))];
    let found = among(&there, Some(&by_header())).unwrap();
    assert_eq!(found["trafficPolicy"], by_cookie());
    assert_eq!(found["subsets"], json!([subset("v1"), subset("v2")]));

    let policy = json!({"tls": {"mode": "DISABLE"}, "loadBalancer": {"simple": "RANDOM", "warmup": {"duration": "9s"}}});
    let there = [rule("shop/old", 0, &json!({"host": HOST, "trafficPolicy": policy}))];
    let found = among(&there, Some(&by_header())).unwrap();
    assert_eq!(found["trafficPolicy"], policy, "istiod takes the older rule's, whatever ours says");
    let expected = json!({"loadBalancer": {"consistentHash": by_header(), "warmup": {"duration": "9s"}}});
    for subset in found["subsets"].as_array().unwrap() {
        assert_eq!(subset["trafficPolicy"], expected, "a subset's comes before the host's");
    }
}

#[test]
fn a_session_policy_that_their_subset_has_holds_in_ours_of_the_same_pods_and_in_the_canarys() {
    let stable = json!({"name": "stable", "labels": {"version": "v1"}, "trafficPolicy": by_cookie()});
    let there = [rule("shop/old", 0, &json!({"host": HOST, "subsets": [stable]}))];
    let found = among(&there, None).unwrap();
    for subset in found["subsets"].as_array().unwrap() {
        assert_eq!(subset["trafficPolicy"], by_cookie(), "{subset}");
    }
}

#[test]
fn a_rule_that_proxies_find_first_is_refused_by_name() {
    for host in [HOST, "*.local", "*"] {
        let there = [rule("ingress/first", 0, &json!({"host": host, "trafficPolicy": by_cookie()}))];
        let error = among(&there, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected proxies in `ingress` to go by DestinationRule shop/shop-canary, found DestinationRule \
             ingress/first before it: they would not know the subsets that routes name"
        );
        let RuleConflict::Hidden { ours, by, .. } = error else { panic!("{error:?}") };
        assert_eq!(ours.namespace, "shop", "where its settings may go");
        assert_eq!(by.iter().map(ToString::to_string).collect::<Vec<_>>(), ["DestinationRule ingress/first"]);
    }
}

#[test]
fn subsets_of_theirs_stay_and_one_of_the_same_name_has_to_be_the_same() {
    let blue = json!({"name": "blue", "labels": {"colour": "blue"}});
    let there = [rule("shop/old", 0, &json!({"host": HOST, "subsets": [blue, subset("v1")]}))];
    assert_eq!(among(&there, None).unwrap(), ours(None).body["spec"]);
    let there = [rule(
        "shop/old",
        0,
        &json!({"host": HOST, "subsets": [{"name": "v2", "labels": {"version": "2"}}]}),
    )];
    let error = among(&there, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "subset `v2` of DestinationRule shop/old and subset `v2` of DestinationRule shop/shop-canary differ, and istiod \
         takes the older rule's"
    );
}

#[test]
fn ours_is_exported_as_theirs_of_the_same_host_because_istiod_would_not_merge_them() {
    let blue = json!({"name": "blue", "labels": {"colour": "blue"}});
    let there = [rule("shop/old", 0, &json!({"host": HOST, "exportTo": ["*"], "subsets": [blue]}))];
    assert_eq!(among(&there, None).unwrap()["exportTo"], json!(["*"]));
}

#[test]
fn where_proxies_go_by_different_policies_both_rules_are_named() {
    let private = json!({"host": HOST, "exportTo": ["."], "trafficPolicy": by_cookie()});
    let mesh = json!({"host": "*.local", "trafficPolicy": {"tls": {"mode": "DISABLE"}}});
    let there = [rule("shop/private", 0, &private), rule("istio-system/mesh", 0, &mesh)];
    assert_eq!(
        among(&there, None).unwrap_err().to_string(),
        "proxies in `ingress` go by the `trafficPolicy` of DestinationRule istio-system/mesh, those in `shop` by that \
         of DestinationRule shop/private: DestinationRule shop/shop-canary cannot have both"
    );
}

#[test]
fn rules_of_other_releases_are_no_settings_of_the_host() {
    let mut other = ours(Some(&by_header())).body;
    other["metadata"]["name"] = json!("api-canary");
    other["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "canary-ctl"});
    let there = [HostRule::of(&other).unwrap()];
    assert_eq!(among(&there, None).unwrap(), ours(None).body["spec"]);
}

#[test]
fn what_was_taken_over_goes_when_it_is_gone() {
    let mut before = ours(None).body;
    before["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "canary-ctl"});
    before["spec"]["trafficPolicy"] = by_cookie();
    assert_eq!(among(&[HostRule::of(&before).unwrap()], None).unwrap(), ours(None).body["spec"]);
}
