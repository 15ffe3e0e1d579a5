//! Invalid configurations, each with the place that the error names.

use crate::config::{full, read, with};
use assignment::Policy;
use serde_json::{Value, json};

const RELEASE: &str = "/releases/shop~1web";

/// The refusal's message, from reading or from compiling.
fn refusal(config: &Value) -> String {
    match read(config).and_then(|config| Policy::compile(&config)) {
        Ok(_) => panic!("accepted: {config}"),
        Err(error) => error.to_line(),
    }
}

/// Field of the proxy or of the release, the impossible value, and what the message begins with.
fn check(parent: &str, table: &[(&str, Value, &str)]) {
    for (field, value, place) in table {
        let message = refusal(&with(&format!("{parent}/{field}"), value.clone()));
        assert!(message.starts_with(place), "{field} = {value}: {message}");
        assert!(message.contains(": "), "the message says what was expected: {message}");
    }
}

#[test]
fn the_proxys_own_fields_are_refused_in_their_place() {
    let host_with_domain = json!({"name": "__Host-id", "secure": true, "domain": "example.com"});
    check(
        "",
        &[
            ("position", json!("middle"), "position: "),
            ("headers", json!({"routing": "X-Upper"}), "headers"),
            ("headers", json!({"routing": ""}), "headers"),
            ("debugHeader", json!("x debug"), "headers"),
            ("idCookie", json!({"name": ""}), "idCookie: "),
            ("idCookie", json!({"name": "a;b"}), "idCookie: "),
            ("idCookie", host_with_domain, "idCookie: "),
            ("idCookie", json!({"name": "__Host-id", "secure": false}), "idCookie: "),
            ("idCookie", json!({"name": "__Secure-id", "secure": false}), "idCookie: "),
            ("idCookie", json!({"name": "id", "secure": false, "sameSite": "None"}), "idCookie: "),
            ("idCookie", json!({"name": "id", "sameSite": "lax"}), "idCookie.sameSite: "),
            ("idCookie", json!({"name": "id", "domain": "*.example.com"}), "idCookie: "),
            ("identityKey", json!("73686f7274"), "identityKey: "),
            ("identityKey", json!("%"), "identityKey: "),
            ("keys", json!([]), "releases.shop/web.pin: "),
            ("idMaxAgeSeconds", json!(-1), "idMaxAgeSeconds: "),
        ],
    );
}

#[test]
fn a_ring_that_could_not_be_trusted_is_refused_by_key() {
    let key =
        |id: &str, usage: &str| json!({"id": id, "key": "30313233343536373839616263646566", "use": usage});
    check(
        "",
        &[
            (
                "keys",
                json!([{"id": "k", "key": "73686f7274", "use": "sign"}]),
                "keys[0]: expected at least 16 bytes",
            ),
            ("keys", json!([key("a", "sign"), key("b", "sign")]), "keys[1]: expected one key"),
            ("keys", json!([key("a", "sign"), key("a", "verify")]), "keys[1]: key id"),
            ("keys", json!([key("A", "sign")]), "keys[0]: expected a key id"),
            ("keys", json!([key("", "sign")]), "keys[0]: expected a key id"),
            ("keys", json!([key("a", "encrypt")]), "keys[0].use: "),
        ],
    );
}

#[test]
fn a_releases_fields_are_refused_in_their_place() {
    check(
        RELEASE,
        &[
            ("uid", json!(""), "releases.shop/web.uid: "),
            ("uid", json!("u".repeat(64)), "releases.shop/web.uid: "),
            ("hosts", json!([]), "releases.shop/web.hosts: "),
            ("hosts", json!(["Shop.example"]), "releases.shop/web.hosts: "),
            ("hosts", json!(["shop.example:80"]), "releases.shop/web.hosts: "),
            ("hosts", json!(["shop.*"]), "releases.shop/web.hosts: "),
            ("paths", json!([]), "releases.shop/web.paths: "),
            ("paths", json!(["a"]), "releases.shop/web.paths: "),
            ("paths", json!(["/a?b"]), "releases.shop/web.paths: "),
            ("paths", json!(["/a#b"]), "releases.shop/web.paths: "),
            ("weight", json!(10_001), "releases.shop/web.weight: "),
            ("weight", json!(12.5), "releases.shop/web.weight: "),
            ("stickiness", json!("request"), "releases.shop/web.stickiness: "),
            ("until", json!({"action": "stop"}), "releases.shop/web.until.atSeconds: "),
            ("sessionCookie", json!("a b"), "releases.shop/web.sessionCookie: "),
            ("pin", Value::Null, "releases.shop/web.pin: "),
            ("override", json!({"mode": "token"}), "releases.shop/web.override.token: "),
            ("override", json!({"mode": "maybe"}), "releases.shop/web.override.mode: "),
            ("fallback", json!("canary"), "releases.shop/web.fallback: "),
            ("generation", Value::Null, "releases.shop/web.generation: "),
        ],
    );
}

#[test]
fn versions_keys_and_cookies_of_a_release_are_refused_in_their_place() {
    let version = |name: &str, role: &str| json!({"name": name, "role": role, "epoch": 1});
    let routed = |value: &str| json!([{"name": "a", "role": "stable", "epoch": 1, "routing": value}, version("b", "canary")]);
    let versions = |list: &[(&str, &str)]| json!(list.iter().map(|(n, r)| version(n, r)).collect::<Vec<_>>());
    check(
        RELEASE,
        &[
            ("versions", json!([]), "releases.shop/web.versions: "),
            ("versions", versions(&[("a", "stable"), ("b", "stable")]), "releases.shop/web.versions: "),
            (
                "versions",
                versions(&[("a", "stable"), ("b", "canary"), ("c", "canary")]),
                "releases.shop/web.versions: ",
            ),
            ("versions", versions(&[("v1", "stable")]), "releases.shop/web.weight: "),
            ("versions", versions(&[("a", "stable"), ("a", "canary")]), "releases.shop/web.versions: "),
            ("versions", versions(&[("a b", "stable"), ("c", "canary")]), "releases.shop/web.versions: "),
            ("versions", versions(&[("a", "stable"), ("v2", "canary")]), "releases.shop/web.gone: "),
            ("versions", routed("a b"), "releases.shop/web.versions: "),
            ("versions", routed(""), "releases.shop/web.versions: "),
            ("identifyBy", json!([{"cookie": "a b"}]), "releases.shop/web.identifyBy: "),
            ("identifyBy", json!([{"cookie": "a"}, {"header": "X-User"}]), "releases.shop/web.identifyBy: "),
            ("identifyBy", json!([{"query": ""}]), "releases.shop/web.identifyBy: "),
            ("identifyBy", json!([{"jwt": {"claim": []}}]), "releases.shop/web.identifyBy: "),
            ("identifyBy", json!([{"cookie": "a", "header": "b"}]), "releases.shop/web.identifyBy[0]: "),
            ("identifyBy", json!([{}]), "releases.shop/web.identifyBy[0]: "),
        ],
    );
    check(
        &format!("{RELEASE}/pin"),
        &[
            ("cookie", json!({"name": "__Host-p", "secure": false}), "releases.shop/web.pin.cookie: "),
            ("maxAgeSeconds", json!(0), "releases.shop/web.pin.maxAgeSeconds: "),
            ("idleSeconds", json!(0), "releases.shop/web.pin.idleSeconds: "),
        ],
    );
    check(
        &format!("{RELEASE}/override/token"),
        &[
            ("cookie", json!({"name": "a=b"}), "releases.shop/web.override.token.cookie: "),
            ("query", json!("a b"), "releases.shop/web.override.token.query: "),
        ],
    );
}

#[test]
fn a_release_needs_a_name_that_kubernetes_could_have_given() {
    for name in ["web", "shop/", "/web", "Shop/web", "shop/web/v2", "shop/-web"] {
        let mut config = full();
        let release = config["releases"]["shop/web"].take();
        config["releases"] = json!({ name: release });
        assert!(
            refusal(&config).starts_with(&format!("releases.{name}.name: expected <namespace>/<name>")),
            "{name}"
        );
    }
}

#[test]
fn two_releases_cannot_have_the_same_host_and_path() {
    let mut config = full();
    config["releases"]["shop/api"] = config["releases"]["shop/web"].clone();
    let message = refusal(&config);
    assert!(message.starts_with("releases.shop/web") && message.contains("`shop.example/a`"), "{message}");
    config["releases"]["shop/api"]["paths"] = json!(["/a/b"]);
    read(&config).and_then(|config| Policy::compile(&config)).unwrap();
}

#[test]
fn keyed_identities_need_the_proxys_key() {
    let message = refusal(&with("/identityKey", Value::Null));
    assert!(message.starts_with("releases.shop/web.identity: "), "{message}");
}

#[test]
fn only_pins_minting_and_tokens_need_a_signing_key() {
    let mut config = with("/keys", json!([]));
    let release = &mut config["releases"]["shop/web"];
    for (field, value) in
        [("stickiness", json!("user")), ("mint", json!("never")), ("override", json!({"mode": "open"}))]
    {
        let without_keys = json!({
            "format": 1, "identityKey": full()["identityKey"], "releases": {"shop/web": release.clone()},
        });
        let message = refusal(&without_keys);
        assert!(message.contains("expected a key with use: sign"), "{message}");
        release[field] = value;
    }
    read(&config).and_then(|config| Policy::compile(&config)).unwrap();
}
