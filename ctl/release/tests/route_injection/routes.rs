//! Our routes before the owner's: the same settings for every version, for the right destinations.

use crate::kit::{applied, demanding, edited, given_back, observed, record, targets, theirs, to};
use canary_release::plan::{Error, edits, reroute};
use canary_release::routing::is_lost;
use serde_json::{Value, json};

#[test]
fn before_each_route_to_the_service_comes_one_for_each_version_that_asks_for_the_same() {
    let record = record();
    let http = json!([demanding(), {"match": [{"uri": {"prefix": "/blog"}}], "route": to("blog")}, {"route": to("shop.shop.svc.cluster.local")}]);
    let edited = edited(&theirs(&http), &record);
    let routes = edited["spec"]["http"].as_array().unwrap();
    let names: Vec<_> = routes.iter().map(|route| route["name"].as_str().unwrap_or("-")).collect();
    assert_eq!(
        names,
        [
            "shop/shop/v1@edit",
            "shop/shop/v2@edit",
            "checkout",
            "-",
            "shop/shop/v1@edit",
            "shop/shop/v2@edit",
            "-"
        ]
    );
    let subsets: Vec<_> =
        routes.iter().map(|route| route["route"][0]["destination"]["subset"].as_str()).collect();
    assert_eq!(subsets, [Some("v1"), Some("v2"), Some("v1"), None, Some("v1"), Some("v2"), Some("v1")]);

    let mut expected = demanding();
    expected["name"] = json!("shop/shop/v2@edit");
    expected["route"][0]["destination"]["subset"] = json!("v2");
    let header = json!({"exact": "shop/shop/v2"});
    expected["match"][0]["headers"]["x-canary-version"] = header.clone();
    expected["match"][1]["headers"] = json!({"x-canary-version": header});
    assert_eq!(routes[1], expected);
    assert_eq!(routes[5]["match"], json!([{"headers": {"x-canary-version": {"exact": "shop/shop/v2"}}}]));
    assert_eq!(routes[3], http[1]);
    for version in ["v1", "v2"] {
        assert!(!is_lost(&edited, &targets(&record), version), "{version}: {edited}");
    }
    assert!(is_lost(&edited, &targets(&record), "v3"), "{edited}");
}

#[test]
fn of_several_destinations_ours_alone_names_a_version() {
    let http = json!([{"route": [
        {"destination": {"host": "legacy"}, "weight": 30},
        {"destination": {"host": "shop"}, "weight": 70},
    ]}]);
    let edited = edited(&theirs(&http), &record());
    for (route, subset) in edited["spec"]["http"].as_array().unwrap().iter().zip(["v1", "v2", "v1"]) {
        let expected = json!([
            {"destination": {"host": "legacy"}, "weight": 30},
            {"destination": {"host": "shop", "subset": subset}, "weight": 70},
        ]);
        assert_eq!(route["route"], expected);
    }
}

#[test]
fn what_cannot_be_right_is_refused_with_its_place() {
    let refused = |http: &Value| match edits(&targets(&record()), &[theirs(http)]) {
        Err(error @ (Error::Uneditable { .. } | Error::NothingToEdit { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let split = json!([{"route": to("blog")}, {"route": [
        {"destination": {"host": "shop", "subset": "v1"}, "weight": 90},
        {"destination": {"host": "shop", "subset": "v2"}, "weight": 10},
    ]}]);
    assert_eq!(
        refused(&split),
        "cannot edit VirtualService shop/by-hand: route #2 splits requests among destinations of `shop`"
    );
    let other = json!([{"name": "beta", "route": [{"destination": {"host": "shop", "subset": "v2"}}]}]);
    assert_eq!(
        refused(&other),
        "cannot edit VirtualService shop/by-hand: route `beta` leads to subset `v2`, which is not the one of stable version `v1`"
    );
    let own = json!([{"match": [{"headers": {"x-canary-version": {"exact": "shop/shop/v2"}}}], "route": to("shop")}]);
    assert_eq!(
        refused(&own),
        "cannot edit VirtualService shop/by-hand: route #1 matches the filter's header itself"
    );
    assert_eq!(
        refused(&json!([{"route": to("blog")}])),
        "expected a VirtualService that leads to Service `shop`, found none"
    );
}

/// For any list: a second edit changes nothing, and undoing restores the original.
#[test]
fn every_list_that_can_be_edited_comes_back() {
    let mut edited_lists = 0;
    let mut dice = fastrand::Rng::with_seed(5);
    for _ in 0..2_000 {
        let before = theirs(&any_list(&mut dice));
        let record = record();
        let Ok(objects) = edits(&targets(&record), std::slice::from_ref(&before)) else { continue };
        edited_lists += 1;
        let seen = applied(&before, &objects[0].body);
        assert!(reroute("shop/shop", &record, &observed(&seen)).unwrap().is_empty(), "{before}");
        assert_eq!(given_back(&seen, &record), before);
    }
    assert!(edited_lists > 500, "{edited_lists}");
}

fn any_list(dice: &mut fastrand::Rng) -> Value {
    (0..dice.usize(0..5)).map(|_| any_route(dice)).collect()
}

fn any_route(dice: &mut fastrand::Rng) -> Value {
    let mut route = json!({});
    if dice.bool() {
        route["name"] = json!(["a", "b", "shop/shop/v2", "shop/shop"][dice.usize(0..4)]);
    }
    if dice.bool() {
        let alternative = |dice: &mut fastrand::Rng| match dice.u8(0..3) {
            0 => json!({"uri": {"prefix": "/a"}}),
            1 => json!({"headers": {"x": {"exact": "1"}}, "port": 80}),
            _ => json!({"uri": {"exact": "/"}, "withoutHeaders": {"y": {}}}),
        };
        route["match"] = (0..dice.usize(1..3)).map(|_| alternative(dice)).collect();
    }
    if dice.u8(0..5) == 0 {
        route["delegate"] = json!({"name": "there"});
        return route;
    }
    let destination = |dice: &mut fastrand::Rng| {
        let host =
            ["shop", "shop.shop", "blog", "shop.other", "shop.shop.svc.cluster.local"][dice.usize(0..5)];
        let mut one = json!({"destination": {"host": host}});
        if dice.u8(0..4) == 0 {
            one["destination"]["subset"] = json!("v1");
        }
        one
    };
    route["route"] = (0..dice.usize(1..3)).map(|_| destination(dice)).collect();
    if dice.bool() {
        route["timeout"] = json!("3s");
    }
    route
}
