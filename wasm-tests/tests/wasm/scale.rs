//! Ten thousand releases on one proxy: they fit, and a request costs what it costs with one.

use crate::fixture::{config, pin, release, routed, session_on, with, worker};
use serde_json::{Map, Value, json};
use wasm_host::{RequestHead, Vm};

/// So many releases on hosts of their own; the first is the fixture's.
fn releases(count: u32) -> Value {
    let release_at = |number: u32| {
        let mut release = release();
        release["hosts"] = json!([host(number)]);
        release["uid"] = json!(format!("u{}", number + 1));
        (format!("shop/r{number:05}"), release)
    };
    config(&(0..count).map(release_at).collect::<Map<_, _>>().into())
}

fn host(number: u32) -> String {
    format!("host-{number:05}.shop.example")
}

fn request(number: u32, cookie: &str) -> RequestHead {
    RequestHead::get("/cart/items?page=1").authority(host(number)).header("cookie", cookie)
}

fn fuel(vm: &Vm, number: u32, cookie: &str) -> u64 {
    (0..3).for_each(|_| drop(vm.request(request(number, cookie)).unwrap()));
    vm.request(request(number, cookie)).unwrap().end().unwrap().fuel.total()
}

#[test]
fn ten_thousand_releases_are_taken_and_found() {
    let vm = worker(&releases(10_000));
    for number in [0, 1, 4_999, 9_999] {
        let found = routed(&vm, request(number, &format!("S={}", session_on(true))));
        assert_eq!(found, Some(format!("shop/r{number:05}/v2")));
    }
    assert_eq!(routed(&vm, request(10_000, "S=x")), None);
}

/// Each worker of a proxy holds this; Wasm memory never shrinks, so reading the document counts, too.
#[test]
fn ten_thousand_releases_fit_into_40_megabytes() {
    let one = worker(&releases(1)).memory_bytes();
    let document = releases(10_000).to_string();
    let many = worker(&releases(10_000)).memory_bytes();
    println!(
        "memory of a worker: {one} bytes with 1 release, {many} with 10,000 ({} of JSON)",
        document.len()
    );
    assert!(one <= 2 << 20, "{one} bytes");
    assert!(many <= 40 << 20, "{many} bytes for {} bytes of JSON", document.len());
}

/// While a configuration replaces another both are in memory, and Wasm memory never shrinks; after that it must not
/// grow.
#[test]
fn replacing_ten_thousand_releases_takes_the_memory_of_two_and_never_more() {
    let vm = worker(&releases(10_000));
    let document = releases(10_000).to_string();
    let one = vm.memory_bytes();
    let after = || {
        let old = vm.serving().unwrap();
        assert!(vm.configure(document.clone()).unwrap(), "{:?}", vm.logs());
        vm.retire(old).unwrap();
        vm.memory_bytes()
    };
    let bytes: Vec<usize> = (0..12).map(|_| after()).collect();
    println!("{one} bytes, then {bytes:?}");
    assert!(bytes.iter().all(|bytes| *bytes <= 2 * one), "{one} bytes, then {bytes:?}");
    let (_, settled) = bytes.split_at(bytes.len() / 2);
    assert!(settled.iter().all(|bytes| Some(bytes) == settled.first()), "it goes on growing: {bytes:?}");
}

#[test]
fn a_request_costs_the_same_with_one_release_and_with_ten_thousand() {
    let (one, many) = (worker(&releases(1)), worker(&releases(10_000)));
    let pinned = format!("S=x; __Host-pin={}", pin("v2", 2));
    for cookie in [format!("S={}", session_on(true)), pinned] {
        let (alone, among) = (fuel(&one, 0, &cookie), fuel(&many, 0, &cookie));
        println!("{alone} instructions with 1 release, {among} with 10,000");
        // The position of a hash in its table differs, nothing else may.
        assert!(among <= alone + alone / 20, "{alone} instructions with 1 release, {among} with 10,000");
    }
}

#[test]
fn a_hundred_path_prefixes_cost_no_hundred_look_ups() {
    let paths: Vec<String> = (0..100).map(|number| format!("/path-{number:03}")).collect();
    let (one, many) = (worker(&with("paths", json!(["/path-050"]))), worker(&with("paths", json!(paths))));
    let cost = |vm: &Vm| {
        let request = || RequestHead::get("/path-050/x").header("cookie", "S=x");
        (0..3).for_each(|_| drop(vm.request(request()).unwrap()));
        vm.request(request()).unwrap().end().unwrap().fuel.total()
    };
    assert!(cost(&many) <= cost(&one) + 1_500, "{} and {}", cost(&one), cost(&many));
}
