//! What clients may send and tests of the logic do not meet: many lines, long lines, bytes that are no text.

use crate::fixture::{config, pin, release, routed, session_on, standard, with, worker};
use serde_json::json;
use wasm_host::RequestHead;

#[test]
fn the_pin_is_found_in_any_of_several_cookie_lines() {
    let vm = worker(&standard());
    for place in 0..4 {
        let lines = (0..4).map(|line| {
            if line == place { format!("__Host-pin={}", pin("v2", 2)) } else { format!("c{line}=x") }
        });
        let request = lines.fold(RequestHead::get("/"), |request, line| request.header("cookie", line));
        assert_eq!(routed(&vm, request).as_deref(), Some("shop/web/v2"), "line {place}");
    }
}

#[test]
fn pins_that_contradict_each_other_in_two_lines_are_in_conflict() {
    let vm = worker(&standard());
    let request = RequestHead::get("/").header("cookie", format!("__Host-pin={}", pin("v2", 2)));
    let request = request.header("cookie", format!("S=x; __Host-pin={}", pin("v1", 1)));
    assert_eq!(routed(&vm, request).as_deref(), Some("shop/web/v1"));
    assert_eq!(crate::fixture::count(&vm, "v1/stable/conflict"), 1);
}

#[test]
fn bytes_that_are_no_text_pass_unharmed() {
    let vm = worker(&standard());
    let mut line = b"A=\xff\xfe\x80; S=".to_vec();
    line.extend_from_slice(session_on(true).as_bytes());
    let request = RequestHead::get("/\u{fffd}").header("cookie", &line).header("x-binary", [0x80, 0xff]);
    let headers = vm.request(request).unwrap().headers();
    assert_eq!(headers.text("x-canary-version").as_deref(), Some("shop/web/v2"));
    assert_eq!(headers.get("cookie"), Some(line.as_slice()));
    assert_eq!(headers.get("x-binary"), Some(&[0x80, 0xff][..]));
}

#[test]
fn a_key_of_bytes_that_are_no_text_is_a_key() {
    let vm = worker(&with("weight", json!(10_000)));
    assert_eq!(
        routed(&vm, RequestHead::get("/").header("cookie", b"S=\xff\xfe")).as_deref(),
        Some("shop/web/v2")
    );
}

#[test]
fn cookies_of_8_kilobytes_are_read_to_their_end() {
    let vm = worker(&standard());
    let others: Vec<String> = (0..400).map(|number| format!("cookie-{number}=value-{number}; ")).collect();
    let padding = others.concat();
    assert!(padding.len() > 8 * 1024, "{} bytes", padding.len());
    for line in [format!("{padding}S={}", session_on(true)), format!("S={}; {padding}", session_on(true))] {
        assert_eq!(routed(&vm, RequestHead::get("/").header("cookie", line)).as_deref(), Some("shop/web/v2"));
    }
    let one = format!("A={}; S={}", "x".repeat(8_192), session_on(true));
    assert_eq!(routed(&vm, RequestHead::get("/").header("cookie", one)).as_deref(), Some("shop/web/v2"));
}

#[test]
fn what_the_proxy_says_while_a_request_is_read_leaves_the_request_as_it_was() {
    let mut release = release();
    release["override"] =
        json!({"mode": "token", "token": {"cookie": {"name": "__Host-token"}, "query": "t"}});
    release["identifyBy"] = json!([{"jwt": {"claim": ["sub"]}}]);
    let vm = worker(&config(&json!({"shop/web": release})));
    let claim = ["metadata", "filter_metadata", "envoy.filters.http.jwt_authn", "payload", "sub"];
    for length in [10, 3_000, 30_000] {
        let request = RequestHead::get("/a?t=forged&x=1").property(&claim, "A".repeat(length));
        let headers = vm.request(request).unwrap().headers();
        assert_eq!(headers.text(":path").as_deref(), Some("/a?x=1"), "a claim of {length} bytes");
    }
    let counts = ["v1/stable/hash", "v2/canary/hash"].map(|tag| crate::fixture::count(&vm, tag));
    assert_eq!(counts.iter().sum::<u64>(), 3, "{counts:?}");
}

#[test]
fn two_hundred_headers_are_read_and_none_is_lost() {
    let vm = worker(&standard());
    let many = |request: RequestHead| {
        (0..100).fold(request, |request, n| request.header(format!("x-header-{n}"), format!("{n}")))
    };
    let cookie = format!("S={}", session_on(true));
    let request = many(many(RequestHead::get("/")).header("cookie", cookie));
    let headers = vm.request(request).unwrap().headers();
    assert_eq!(headers.text("x-canary-version").as_deref(), Some("shop/web/v2"));
    assert_eq!(headers.len(), 4 + 200 + 1 + 1, "pseudo headers, ours and theirs");
}

#[test]
fn forged_headers_are_removed_or_replaced_however_they_are_spelt() {
    let mut vm_config = with("train", json!("autumn"));
    for (config, id) in [(standard(), false), (vm_config.take(), true)] {
        let vm = worker(&config);
        let mut request = RequestHead::get("/").header("cookie", format!("S={}", session_on(false)));
        for name in [
            "x-canary-version",
            "X-Canary-Id",
            "x-canary-cohort",
            "x_canary_version",
            "x_canary-id",
            "x-canary_cohort",
        ] {
            request = request.header(name, "shop/web/v2").header(name, "autumn=canary");
        }
        let headers = vm.request(request).unwrap().headers();
        assert_eq!(headers.texts("x-canary-version"), ["shop/web/v1"]);
        assert_eq!(headers.all("x-canary-id").count(), usize::from(id));
        assert_eq!(headers.texts("x-canary-cohort"), if id { vec!["autumn=stable"] } else { vec![] });
        assert!(headers.pairs().all(|(name, _)| !name.contains(&b'_')), "{headers:?}");
    }
}
