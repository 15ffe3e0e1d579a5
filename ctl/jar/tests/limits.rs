//! What a server that sets cookie after cookie makes of a jar.

use cookie_jar::{Jar, Origin};
use std::time::Duration;

const ORIGIN: Origin<'_> = Origin { host: "shop.example.com", path: "/", secure: true };

fn keep(jar: &mut Jar, line: &str) {
    jar.store(line.as_bytes(), ORIGIN);
}

/// 90 new cookies of 3 kB in each of ten responses.
fn flood(jar: &mut Jar, attributes: &str) {
    let value = "x".repeat(3_000);
    for number in 0..900 {
        keep(jar, &format!("c{number}={value}; Path=/{attributes}"));
    }
}

#[test]
fn a_domain_has_180_cookies_and_the_oldest_are_evicted() {
    let mut jar = Jar::new();
    flood(&mut jar, "");
    let names = jar.names();
    assert_eq!((names.len(), names[0], names[179]), (180, "c720", "c899"));
    assert!(jar.header(ORIGIN).unwrap().len() < 180 * 3_020);
}

#[test]
fn other_domains_keep_theirs() {
    let mut jar = Jar::new();
    keep(&mut jar, "wide=1; Domain=example.com; Path=/");
    flood(&mut jar, "");
    assert_eq!(jar.names().len(), 181);
    assert_eq!(jar.get("wide"), Some("1"));
}

#[test]
fn a_secure_cookie_stays_longer_than_one_that_is_not_and_one_that_has_expired_goes_first() {
    let mut jar = Jar::new();
    keep(&mut jar, "first=1; Path=/; Secure");
    flood(&mut jar, "");
    assert_eq!((jar.get("first"), jar.names().len()), (Some("1"), 180));
    flood(&mut jar, "; Secure");
    assert_eq!((jar.get("first"), jar.names().len()), (None, 180), "all are secure now");

    let mut jar = Jar::new();
    keep(&mut jar, "oldest=1; Path=/");
    (0..178).for_each(|number| keep(&mut jar, &format!("old{number}=1; Path=/; Max-Age=60")));
    jar.advance(Duration::from_secs(61));
    (0..179).for_each(|number| keep(&mut jar, &format!("new{number}=1; Path=/")));
    assert_eq!((jar.get("oldest"), jar.names().len()), (Some("1"), 180));
}

#[test]
fn refused_lines_are_kept_up_to_a_limit() {
    let mut jar = Jar::new();
    flood(&mut jar, "; Domain=other.example");
    assert_eq!((jar.names().len(), jar.refused().len()), (0, 180));
}
