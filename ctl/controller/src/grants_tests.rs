use super::*;

/// A pattern, a host, and whether the pattern has each name of the host.
#[test]
fn a_pattern_covers_what_is_within_it() {
    for (given, host, expected) in [
        ("*", "shop.example.com", true),
        ("*", "*", true),
        ("*.example.com", "shop.example.com", true),
        ("*.Example.com", "a.b.example.com", true),
        ("*.example.com", "*.example.com", true),
        ("*.example.com", "*.shop.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "badexample.com", false),
        ("*.example.com", "*.com", false),
        ("*.example.com", "*", false),
        ("*example.com", "badexample.com", false),
        ("shop.example.com", "shop.example.com", true),
        ("shop.example.com", "*.example.com", false),
        ("", "shop.example.com", false),
    ] {
        assert_eq!(covers(given, host), expected, "{given} {host}");
    }
}
