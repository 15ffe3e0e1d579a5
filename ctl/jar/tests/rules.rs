//! Proves the jar, rule by rule.

use std::time::Duration;

use cookie_jar::{Initiator, Jar, Origin, Refused};

const TLS: Origin<'_> = Origin { host: "shop.example", path: "/app/cart", secure: true };
const PLAIN: Origin<'_> = Origin { secure: false, ..TLS };

fn at(path: &str) -> Origin<'_> {
    Origin { path, ..TLS }
}

fn on(host: &str) -> Origin<'_> {
    Origin { host, ..TLS }
}

fn jar(lines: &[&str]) -> Jar {
    let mut jar = Jar::new();
    for line in lines {
        jar.store(line.as_bytes(), TLS);
    }
    jar
}

fn refusal(line: &str, origin: Origin<'_>) -> Option<Refused> {
    let mut jar = Jar::new();
    jar.store(line.as_bytes(), origin);
    jar.refused().first().map(|(_, reason)| reason.clone())
}

#[test]
fn a_cookie_without_path_belongs_to_the_folder_of_the_page() {
    let jar = jar(&["a=1"]);
    assert_eq!(jar.header(at("/app/other")).as_deref(), Some("a=1"));
    assert_eq!(jar.header(at("/app")).as_deref(), Some("a=1"));
    assert_eq!(jar.header(at("/apple")), None);
    assert_eq!(jar.header(at("/")), None);
}

#[test]
fn a_path_covers_what_is_below_it_and_no_longer_name() {
    let jar = jar(&["a=1; Path=/app"]);
    assert_eq!(jar.header(at("/app/x")).as_deref(), Some("a=1"));
    assert_eq!(jar.header(at("/application")), None);
}

#[test]
fn a_cookie_without_domain_stays_with_its_host() {
    let jar = jar(&["a=1; Path=/"]);
    assert_eq!(jar.header(on("SHOP.example")).as_deref(), Some("a=1"));
    assert_eq!(jar.header(on("www.shop.example")), None);
}

#[test]
fn a_domain_covers_the_hosts_below_it() {
    let jar = jar(&["a=1; Path=/; Domain=.Shop.Example"]);
    assert_eq!(jar.header(on("www.shop.example")).as_deref(), Some("a=1"));
    assert_eq!(jar.header(on("shop.example")).as_deref(), Some("a=1"));
    assert_eq!(jar.header(on("bookshop.example")), None);
}

#[test]
fn a_domain_that_does_not_cover_the_host_is_refused() {
    for domain in ["other.example", "www.shop.example", "example"] {
        let refused = refusal(&format!("a=1; Domain={domain}"), TLS);
        assert_eq!(refused, Some(Refused::ForeignDomain(domain.to_owned())));
    }
    assert_eq!(
        refusal("a=1; Domain=0.0.1", on("127.0.0.1")),
        Some(Refused::ForeignDomain("0.0.1".to_owned()))
    );
}

#[test]
fn a_secure_cookie_needs_a_secure_connection_both_ways() {
    assert_eq!(refusal("a=1; Secure", PLAIN), Some(Refused::NotSecure));
    let jar = jar(&["a=1; Secure"]);
    assert_eq!(jar.header(TLS).as_deref(), Some("a=1"));
    assert_eq!(jar.header(PLAIN), None);
}

#[test]
fn a_plain_connection_cannot_overwrite_a_secure_cookie() {
    let mut jar = jar(&["a=1; Secure; Path=/"]);
    jar.store(b"a=forged; Path=/", PLAIN);
    assert_eq!(jar.get("a"), Some("1"));
    assert_eq!(jar.refused()[0].1, Refused::OverwritesSecure);
}

#[test]
fn a_host_prefix_asks_for_secure_and_root_path_and_no_domain() {
    assert_eq!(refusal("__Host-a=1; Secure; Path=/", TLS), None);
    for line in [
        "__Host-a=1; Path=/",
        "__Host-a=1; Secure",
        "__Host-a=1; Secure; Path=/app",
        "__Host-a=1; Secure; Path=/; Domain=shop.example",
        "__host-a=1; Path=/",
        "__Secure-a=1; Path=/",
    ] {
        assert_eq!(refusal(line, TLS), Some(Refused::Prefix), "{line}");
    }
    assert_eq!(refusal("__Host-a=1; Secure; Path=/", PLAIN), Some(Refused::NotSecure));
}

#[test]
fn same_site_none_asks_for_secure() {
    assert_eq!(refusal("a=1; SameSite=None", TLS), Some(Refused::SameSiteNone));
    assert_eq!(refusal("a=1; SameSite=None; Secure", TLS), None);
}

#[test]
fn a_cookie_longer_than_4096_bytes_is_refused() {
    assert_eq!(refusal(&format!("a={}", "x".repeat(4095)), TLS), None);
    assert_eq!(refusal(&format!("a={}", "x".repeat(4096)), TLS), Some(Refused::TooLong));
}

#[test]
fn max_age_beats_expires_and_zero_deletes() {
    let mut jar = jar(&["a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]);
    assert_eq!(jar.get("a"), Some("1"));
    jar.store(b"a=; Max-Age=0", TLS);
    assert_eq!(jar.get("a"), None);
}

#[test]
fn an_expiry_in_the_past_deletes_only_the_cookie_of_the_same_path() {
    let mut jar = jar(&["a=1; Path=/", "a=2; Path=/app"]);
    jar.store(b"a=; Path=/; Expires=Thu, 01-Jan-1970 00:00:10 GMT", TLS);
    assert_eq!(jar.header(TLS).as_deref(), Some("a=2"));
}

#[test]
fn an_age_ends_as_time_passes_and_a_session_cookie_when_the_browser_is_closed() {
    let mut jar = jar(&["aged=1; Max-Age=60", "session=1"]);
    jar.advance(Duration::from_secs(59));
    assert_eq!(jar.names(), ["aged", "session"]);
    jar.advance(Duration::from_secs(1));
    assert_eq!(jar.names(), ["session"]);
    jar.end_session();
    assert_eq!(jar.names(), [""; 0]);
}

#[test]
fn longer_paths_go_first_then_older_cookies() {
    let jar = jar(&["first=1; Path=/", "second=1; Path=/", "deep=1; Path=/app", "first=2; Path=/"]);
    assert_eq!(jar.header(TLS).as_deref(), Some("deep=1; first=2; second=1"));
}

#[test]
fn a_value_keeps_its_quotes_and_equals_signs() {
    assert_eq!(jar(&["a=\"b=c==\"; Path=/"]).header(TLS).as_deref(), Some("a=\"b=c==\""));
}

#[test]
fn a_planted_cookie_replaces_the_genuine_one() {
    let mut jar = jar(&["__Host-a=1; Secure; Path=/"]);
    jar.plant("__Host-a", "forged", "shop.example");
    assert_eq!(jar.header(TLS).as_deref(), Some("__Host-a=forged"));
}

#[test]
fn same_site_decides_which_requests_of_other_sites_carry_a_cookie() {
    let table = [
        ("SameSite=Strict", [true, false, false, false]),
        ("SameSite=Lax", [true, true, false, false]),
        ("", [true, true, false, false]),
        ("SameSite=None", [true, true, true, true]),
    ];
    let initiators = [Initiator::SameSite, Initiator::Link, Initiator::Form, Initiator::Frame];
    for (attribute, expected) in table {
        let jar = jar(&[&format!("a=1; Secure; {attribute}")]);
        let sent = initiators.map(|initiator| !jar.pairs_from(TLS, initiator).is_empty());
        assert_eq!(sent, expected, "{attribute:?}");
    }
}

#[test]
fn a_frame_of_another_site_keeps_only_cookies_for_all_sites() {
    for (attribute, kept) in [("SameSite=None", true), ("SameSite=Lax", false), ("", false)] {
        let mut jar = Jar::new();
        jar.store_from(format!("a=1; Secure; {attribute}").as_bytes(), TLS, Initiator::Frame);
        assert_eq!(jar.header(TLS).is_some(), kept, "{attribute:?}");
        assert_eq!(jar.refused().iter().any(|(_, reason)| *reason == Refused::Frame), !kept, "{attribute:?}");
    }
}

#[test]
fn a_page_that_a_form_of_another_site_opened_keeps_cookies() {
    let mut jar = Jar::new();
    jar.store_from(b"a=1; SameSite=Strict", TLS, Initiator::Form);
    assert_eq!(jar.header(TLS).as_deref(), Some("a=1"));
}
