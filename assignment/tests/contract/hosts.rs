//! Host and path mean what Envoy and Istio mean: a table of requests and the release that each one concerns.

use crate::config::{full, read};
use assignment::Policy;
use serde_json::json;

/// Releases by name, each with its hosts and paths.
const RELEASES: [(&str, &[&str], &[&str]); 8] = [
    ("r/exact", &["shop.example"], &["/"]),
    ("r/cart", &["shop.example"], &["/cart"]),
    ("r/cart-api", &["shop.example"], &["/cart/api/"]),
    ("r/wild", &["*.example"], &["/"]),
    ("r/deeper", &["*.eu.example"], &["/"]),
    ("r/only-path", &["paths.example"], &["/only"]),
    ("r/six", &["[::1]"], &["/"]),
    ("r/any", &["*"], &["/any"]),
];

/// Authority, path, and the release; `-` is none.
const TABLE: [(&str, &str, &str); 40] = [
    ("shop.example", "/", "r/exact"),
    ("shop.example", "/x", "r/exact"),
    ("shop.example:443", "/", "r/exact"),
    ("shop.example:", "/", "r/exact"),
    ("SHOP.Example", "/", "r/exact"),
    ("SHOP.EXAMPLE:8443", "/cart", "r/cart"),
    ("shop.example.", "/", "-"),
    // Byte prefixes, longest first.
    ("shop.example", "/cart", "r/cart"),
    ("shop.example", "/cartoon", "r/cart"),
    ("shop.example", "/cart/", "r/cart"),
    ("shop.example", "/cart/api", "r/cart"),
    ("shop.example", "/cart/api/", "r/cart-api"),
    ("shop.example", "/cart/api/x", "r/cart-api"),
    ("shop.example", "/car", "r/exact"),
    ("shop.example", "/Cart", "r/exact"),
    // Nothing is decoded, nothing is tidied up.
    ("shop.example", "//cart", "r/exact"),
    ("shop.example", "/./cart", "r/exact"),
    ("shop.example", "/%63art", "r/exact"),
    ("shop.example", "/cart%2Fapi/", "r/cart"),
    ("shop.example", "/cart/api%2F", "r/cart"),
    // Query and fragment are no path.
    ("shop.example", "/?/cart", "r/exact"),
    ("shop.example", "/cart?x=/cart/api/", "r/cart"),
    ("shop.example", "/cart#/api/", "r/cart"),
    ("paths.example", "/?x=/only", "-"),
    // Exact, then the longest wildcard; one virtual host is chosen and there is no falling through.
    ("paths.example", "/only", "r/only-path"),
    ("paths.example", "/any", "-"),
    ("api.example", "/", "r/wild"),
    ("a.b.example", "/", "r/wild"),
    ("a.eu.example", "/", "r/deeper"),
    ("eu.example", "/", "r/wild"),
    ("example", "/", "-"),
    ("example", "/any", "r/any"),
    ("evil-shop.example", "/", "r/wild"),
    // A wildcard stands for at least one character.
    (".example", "/", "-"),
    (".eu.example", "/", "r/wild"),
    ("other.test", "/any/thing", "r/any"),
    ("", "/any", "r/any"),
    ("[::1]:80", "/", "r/six"),
    ("[::1]", "/", "r/six"),
    ("[::2]:80", "/", "-"),
];

fn policy() -> Policy {
    let mut config = full();
    let release = config["releases"]["shop/web"].take();
    config["releases"] = json!({});
    for (name, hosts, paths) in RELEASES {
        config["releases"][name] = release.clone();
        config["releases"][name]["hosts"] = json!(hosts);
        config["releases"][name]["paths"] = json!(paths);
    }
    Policy::compile(&read(&config).unwrap()).unwrap()
}

#[test]
fn every_host_and_path_finds_its_release() {
    let policy = policy();
    for (authority, path, expected) in TABLE {
        let found = policy.find(authority.as_bytes(), path.as_bytes());
        let name = found.and_then(|index| policy.release(index)).map_or("-", |release| release.name.as_str());
        assert_eq!(name, expected, "{authority} {path}");
    }
}

#[test]
fn unknown_hosts_and_paths_find_no_release() {
    let policy = policy();
    let long = [b'a'; 5_000];
    for authority in [&long[..], b"\xff\xfe", b":", b"]:", b"[", b".", b"....", b"*.example:x"] {
        for path in [&long[..], b"", b"\xff", b"?", b"#", b"*"] {
            assert_eq!(policy.find(authority, path), None, "{authority:?} {path:?}");
        }
    }
}
