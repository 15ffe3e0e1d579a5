//! Configurations: the first is never refused, a good one is never lost, several live side by side.

use crate::fixture::{KEY, count, module, pin, routed, session_on, standard, with, worker};
use serde_json::{Value, json};
use wasm_host::{LogLevel, Proxy, RequestHead, Vm, VmOptions};

fn canary_user() -> RequestHead {
    RequestHead::get("/").header("cookie", format!("S={}", session_on(true)))
}

/// Configurations that cannot be accepted, and what the log must name.
fn bad() -> Vec<(Vec<u8>, &'static str)> {
    let json = |config: Value| config.to_string().into_bytes();
    vec![
        (Vec::new(), "JSON"),
        (b"{".to_vec(), "JSON"),
        (b"\xff".to_vec(), ""),
        (json(json!({"format": 2})), "expected configuration format 1, found 2"),
        (json(with("weight", json!(10_001))), "releases.shop/web.weight"),
        (json(with("versions", json!([]))), "releases.shop/web.versions"),
        (json(with("pin", Value::Null)), "releases.shop/web.pin"),
    ]
}

#[test]
fn a_bad_first_configuration_is_accepted_inert_and_said_in_a_metric() {
    for (config, place) in bad() {
        let vm = Vm::start(&module()).unwrap();
        assert!(vm.configure(&config).unwrap(), "refused, it would be an error for every request");
        assert_eq!(vm.proxy().metric("canary_inert"), Some(1));
        let last = vm.logs().pop().unwrap();
        assert_eq!(last.level, LogLevel::Error);
        assert!(last.message.contains(place), "{last:?}");
        assert_eq!(routed(&vm, canary_user().header("x-canary-version", "shop/web/v2")), None);
    }
}

#[test]
fn a_good_configuration_ends_being_inert() {
    let vm = Vm::start(&module()).unwrap();
    assert!(vm.configure("{").unwrap(), "{:?}", vm.logs());
    assert!(vm.configure(standard().to_string()).unwrap(), "{:?}", vm.logs());
    assert_eq!(vm.proxy().metric("canary_inert"), Some(0));
    assert_eq!(routed(&vm, canary_user()).as_deref(), Some("shop/web/v2"));
}

#[test]
fn a_bad_configuration_after_a_good_one_is_refused_by_place_and_the_old_one_goes_on() {
    for (config, place) in bad() {
        let vm = worker(&standard());
        assert!(!vm.configure(&config).unwrap(), "{}", String::from_utf8_lossy(&config));
        let last = vm.logs().pop().unwrap();
        assert!(last.level == LogLevel::Error && last.message.contains(place), "{last:?}");
        assert_eq!(routed(&vm, canary_user()).as_deref(), Some("shop/web/v2"));
        assert_eq!(vm.proxy().metric("canary_inert"), Some(0));
    }
}

#[test]
fn a_text_that_was_accepted_as_the_first_is_never_refused_and_leaves_a_good_one_in_force() {
    for (config, place) in bad() {
        let vm = Vm::start(&module()).unwrap();
        assert!(vm.configure(&config).unwrap(), "{:?}", vm.logs());
        assert!(vm.configure(standard().to_string()).unwrap(), "{:?}", vm.logs());
        assert!(
            vm.configure(&config).unwrap(),
            "Envoy would not ask again: the workers would be without a filter"
        );
        let last = vm.logs().pop().unwrap();
        assert!(last.level == LogLevel::Error && last.message.contains(place), "{last:?}");
        assert_eq!(routed(&vm, canary_user()).as_deref(), Some("shop/web/v2"));
        assert_eq!(vm.proxy().metric("canary_inert"), Some(0));
        assert!(!vm.configure("another bad one").unwrap(), "that one Envoy asks about");
    }
}

#[test]
fn a_worker_that_starts_with_such_a_text_is_inert() {
    let proxy = Proxy::new();
    let first = Vm::start_in(&module(), &proxy, VmOptions::default()).unwrap();
    assert!(first.configure("{").unwrap(), "{:?}", first.logs());
    assert!(first.configure(standard().to_string()).unwrap(), "{:?}", first.logs());
    let late = Vm::start_in(&module(), &proxy, VmOptions::default()).unwrap();
    assert!(late.configure("{").unwrap(), "{:?}", late.logs());
    assert_eq!(routed(&late, canary_user()), None);
}

#[test]
fn a_worker_that_starts_later_knows_that_a_good_one_is_in_force() {
    let proxy = Proxy::new();
    crate::fixture::worker_in(&proxy, VmOptions::default(), &standard());
    let late = Vm::start_in(&module(), &proxy, VmOptions::default()).unwrap();
    assert!(
        !late.configure("{").unwrap(),
        "Envoy tries an update in a VM of its own before it hands it to the workers"
    );
}

#[test]
fn a_stream_keeps_the_configuration_that_it_began_with() {
    let vm = worker(&standard());
    let mut running = vm.request(canary_user()).unwrap();
    let old = vm.serving().unwrap();
    assert!(vm.configure(with("weight", json!(0)).to_string()).unwrap(), "{:?}", vm.logs());
    assert_eq!(routed(&vm, canary_user()).as_deref(), Some("shop/web/v1"));
    assert_eq!(
        vm.request_on(old, canary_user()).unwrap().headers().text("x-canary-version").as_deref(),
        Some("shop/web/v2")
    );
    vm.retire(old).unwrap();
    let headers = running.respond(crate::fixture::uncacheable().header("set-cookie", "S=new")).unwrap();
    assert_eq!(crate::fixture::pinned(&headers).as_deref(), Some("v2"), "also after its root has ended");
}

#[test]
fn a_pin_that_was_seen_often_counts_no_longer_when_its_key_or_its_version_is_gone() {
    let pinned_user =
        || RequestHead::get("/").header("cookie", format!("S=any; __Host-pin={}", pin("v2", 2)));
    let at_zero = with("weight", json!(0));
    let vm = worker(&at_zero);
    for _ in 0..3 {
        assert_eq!(routed(&vm, pinned_user()).as_deref(), Some("shop/web/v2"));
    }
    let mut other_key = at_zero.clone();
    other_key["keys"][0]["key"] = json!(KEY.replace('3', "4"));
    let mut gone = at_zero.clone();
    let release = &mut gone["releases"]["shop/web"];
    release["versions"].as_array_mut().unwrap().pop();
    release["gone"] = json!([{"name": "v2", "epoch": 2}]);
    for other in [other_key, gone] {
        assert!(vm.configure(other.to_string()).unwrap(), "{:?}", vm.logs());
        assert_eq!(routed(&vm, pinned_user()).as_deref(), Some("shop/web/v1"), "{other}");
        assert!(vm.configure(at_zero.to_string()).unwrap(), "{:?}", vm.logs());
        assert_eq!(routed(&vm, pinned_user()).as_deref(), Some("shop/web/v2"));
    }
}

#[test]
fn weight_changes_move_users_in_one_direction() {
    let vm = worker(&with("weight", json!(0)));
    let mut on_canary: Vec<u32> = Vec::new();
    for weight in [100, 1_000, 5_000, 10_000] {
        assert!(vm.configure(with("weight", json!(weight)).to_string()).unwrap(), "{:?}", vm.logs());
        let now: Vec<u32> = (0..500)
            .filter(|user| {
                let request = RequestHead::get("/").header("cookie", format!("S=user-{user}"));
                routed(&vm, request).as_deref() == Some("shop/web/v2")
            })
            .collect();
        assert!(on_canary.iter().all(|user| now.contains(user)), "at {weight}");
        on_canary = now;
    }
    assert_eq!(on_canary.len(), 500);
}

#[test]
fn several_releases_are_found_by_host_and_path() {
    let mut config = standard();
    for (name, hosts, paths) in
        [("a/api", "shop.example", "/api"), ("a/wild", "*.example", "/"), ("a/any", "*", "/x")]
    {
        let mut release = crate::fixture::release();
        (release["hosts"], release["paths"], release["weight"]) =
            (json!([hosts]), json!([paths]), json!(10_000));
        release["uid"] = json!(name);
        config["releases"][name] = release;
    }
    let vm = worker(&config);
    for (host, path, release) in [
        ("shop.example", "/api/x", Some("a/api/v2")),
        ("SHOP.example:8443", "/apis?x", Some("a/api/v2")),
        ("blog.example", "/", Some("a/wild/v2")),
        ("other.test", "/x", Some("a/any/v2")),
        ("other.test", "/", None),
    ] {
        let request = RequestHead::get(path).authority(host).header("cookie", "S=x");
        assert_eq!(routed(&vm, request).as_deref(), release, "{host}{path}");
    }
    assert_eq!(count(&vm, "v2/canary/hash"), 0, "the fixture's own release got none of them");
}
