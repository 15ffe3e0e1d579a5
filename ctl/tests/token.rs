//! `token` as a process: what it prints, and with which exit code.

mod local_release;

use local_release::{Directory, json, stderr, stdout};

#[test]
fn a_token_is_created_inspected_and_revoked_and_stays_revoked() {
    let directory = Directory::generated("token");
    let created = directory.run(&["token", "create", "--version", "canary", "--ttl", "10m"]);
    let token = stdout(&created).trim().to_owned();
    assert!(created.status.success() && token.starts_with("t1.k1.v2.1."), "{token} {}", stderr(&created));
    let inspected = directory.run(&["token", "inspect", &token]);
    assert!(
        stdout(&inspected).starts_with("shop/shop: valid\n  version  v2 (epoch 1)\n"),
        "{}",
        stdout(&inspected)
    );
    assert_eq!(inspected.status.code(), Some(0));

    let dry = directory.run(&["token", "revoke", "--dry-run"]);
    assert!(stdout(&dry).contains("would not count (generation 2)"), "{}{}", stdout(&dry), stderr(&dry));
    assert_eq!(directory.run(&["token", "inspect", &token]).status.code(), Some(0));

    let revoked = directory.run(&["token", "revoke"]);
    assert!(stdout(&revoked).contains("do not count (generation 2)"), "{}", stderr(&revoked));
    let inspected = directory.run(&["token", "inspect", &token, "-o", "json"]);
    let report = json(&inspected);
    assert_eq!((inspected.status.code(), report["verdict"].as_str()), (Some(1), Some("revoked")));

    let generated = directory.run(&["generate"]);
    assert!(generated.status.success(), "{}", stderr(&generated));
    assert_eq!(directory.run(&["token", "inspect", &token]).status.code(), Some(1));
    let next = directory.run(&["token", "create", "--version", "v2"]);
    let next = stdout(&next).trim().to_owned();
    assert_eq!(directory.run(&["token", "inspect", &next]).status.code(), Some(0));
}

#[test]
fn with_a_url_a_link_is_printed() {
    let directory = Directory::generated("token");
    let url = "https://shop.example.com/cart?a=1#top";
    let created = directory.run(&["token", "create", "--version", "v1", "--url", url]);
    let link = stdout(&created);
    assert!(
        link.starts_with("https://shop.example.com/cart?a=1&canary-token=t1.") && link.ends_with("#top\n"),
        "{link}"
    );
    let inspected = directory.run(&["token", "inspect", link.trim()]);
    assert!(stdout(&inspected).starts_with("shop/shop: valid\n"), "{}", stdout(&inspected));
    let other = directory.run(&["token", "inspect", "https://shop.example.com/cart?a=1"]);
    let expected = "expected a link with the query parameter `canary-token`, found none";
    assert!(stderr(&other).contains(expected), "{}", stderr(&other));
}

#[test]
fn what_cannot_be_signed_is_refused_with_a_hint() {
    let directory = Directory::generated("token");
    for (arguments, message) in [
        (["--version", "v9", "--ttl", "1h"], "expected a live version (v1, v2), found `v9`"),
        (["--version", "v2", "--ttl", "8d"], "a token lives at most 7 days, found 8 days"),
    ] {
        let refused = directory.run(&[&["token", "create"], arguments.as_slice()].concat());
        assert_eq!((refused.status.code(), stdout(&refused)), (Some(2), String::new()));
        assert!(stderr(&refused).contains(message), "{}", stderr(&refused));
    }
    let off = Directory::generated("off");
    let refused = off.run(&["token", "create", "--version", "v2"]);
    let text = stderr(&refused);
    assert!(text.contains("found `override: off`") && text.contains("hint: set `override: token`"), "{text}");
}

#[test]
fn a_token_of_another_ring_is_not_genuine() {
    let (one, other) = (Directory::generated("token"), Directory::generated("token"));
    let token = stdout(&one.run(&["token", "create", "--version", "v2"])).trim().to_owned();
    let inspected = other.run(&["token", "inspect", &token]);
    assert_eq!(inspected.status.code(), Some(1));
    assert!(stdout(&inspected).starts_with("shop/shop: not genuine"), "{}", stdout(&inspected));
}
