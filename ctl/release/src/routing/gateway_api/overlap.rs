//! Whether a request can match two matches. Where that is not known – regular expressions are not evaluated – it can.

use super::http_route::{HttpMatch, PathMatch, ValueMatch};

/// Whether some request matches both.
pub(super) fn overlap(one: &HttpMatch, other: &HttpMatch) -> bool {
    let same_method = match (&one.method, &other.method) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => true,
    };
    same_method
        && paths_overlap(&one.path, &other.path)
        && values_overlap(&one.headers, &other.headers)
        && values_overlap(&one.query, &other.query)
}

fn paths_overlap(one: &PathMatch, other: &PathMatch) -> bool {
    match (one, other) {
        (PathMatch::Regex(_), _) | (_, PathMatch::Regex(_)) => true,
        (PathMatch::Exact(one), PathMatch::Exact(other)) => one == other,
        (PathMatch::Exact(path), PathMatch::Prefix(prefix))
        | (PathMatch::Prefix(prefix), PathMatch::Exact(path)) => starts_with(path, prefix),
        (PathMatch::Prefix(one), PathMatch::Prefix(other)) => {
            starts_with(one, other) || starts_with(other, one)
        }
    }
}

/// Whether a path starts with whole segments of a prefix, whose slash at the end does not count.
fn starts_with(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    path.trim_end_matches('/') == prefix
        || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
}

fn values_overlap(one: &[ValueMatch], other: &[ValueMatch]) -> bool {
    one.iter().all(|one| {
        let mut same_name = other.iter().filter(|other| other.name == one.name);
        same_name.all(|other| one.is_regex || other.is_regex || one.value == other.value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::gateway_api::http_route::HttpRoute;
    use serde_json::{Value, json};

    fn both(one: &Value, other: &Value) -> bool {
        let object = json!({"spec": {"rules": [{"matches": [one, other]}]}});
        let route = HttpRoute::read(&object).unwrap();
        let [one, other] = route.rules[0].matches.as_slice() else { panic!("{route:?}") };
        assert_eq!(overlap(one, other), overlap(other, one), "{one:?} {other:?}");
        overlap(one, other)
    }

    #[test]
    fn paths_overlap_by_whole_segments() {
        let prefix = |value: &str| json!({"path": {"type": "PathPrefix", "value": value}});
        let exact = |value: &str| json!({"path": {"type": "Exact", "value": value}});
        let regex = |value: &str| json!({"path": {"type": "RegularExpression", "value": value}});
        assert!(both(&prefix("/"), &exact("/cart")));
        assert!(both(&json!({}), &exact("/")), "without a path it is every path");
        assert!(both(&prefix("/cart"), &prefix("/cart/items")));
        assert!(both(&prefix("/cart/"), &exact("/cart")));
        assert!(!both(&prefix("/cart"), &prefix("/cartoon")));
        assert!(!both(&prefix("/cart"), &exact("/cartoon")));
        assert!(!both(&exact("/cart"), &exact("/cart/")));
        assert!(both(&regex("/a"), &exact("/b")), "not evaluated");
    }

    #[test]
    fn values_and_methods_that_differ_exclude_each_other() {
        let header = |name: &str, value: &str| json!({"headers": [{"name": name, "value": value}]});
        assert!(both(&header("a", "1"), &header("b", "2")));
        assert!(!both(&header("a", "1"), &header("A", "2")), "names of headers have no case");
        assert!(both(
            &header("a", "1"),
            &json!({"headers": [{"name": "a", "type": "RegularExpression", "value": "2"}]})
        ));
        let query = |name: &str, value: &str| json!({"queryParams": [{"name": name, "value": value}]});
        assert!(!both(&query("a", "1"), &query("a", "2")));
        assert!(both(&query("a", "1"), &query("A", "2")), "names of query parameters have case");
        assert!(!both(&json!({"method": "GET"}), &json!({"method": "PUT"})));
        assert!(both(&json!({"method": "GET"}), &json!({})));
        let twice = json!({"headers": [{"name": "a", "value": "1"}, {"name": "A", "value": "2"}]});
        assert!(!both(&twice, &header("a", "2")), "the first of equal names counts");
    }
}
