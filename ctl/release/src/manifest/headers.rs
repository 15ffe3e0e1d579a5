//! The headers that no client may send, in every spelling that an application might take for one of them.

use assignment::contract::{HeaderNames, Position};

/// The names to remove before any route is matched.
///
/// Applications behind CGI-like interfaces read `x_canary_id` as `x-canary-id`, so each `-` may be a `_`. Inside the
/// mesh identity and cohort come from another proxy with the filter and are trusted; the routing header never is.
pub fn untrusted_headers(names: &HeaderNames, position: Position) -> Vec<String> {
    let untrusted = match position {
        Position::Edge => names.trusted().to_vec(),
        Position::Mesh => vec![names.routing.as_str()],
    };
    untrusted.into_iter().flat_map(spellings).collect()
}

/// A name with every choice of `-` and `_`, the name itself first.
fn spellings(name: &str) -> Vec<String> {
    let mut spellings = vec![String::new()];
    for (index, part) in name.split('-').enumerate() {
        let separators: &[&str] = if index == 0 { &[""] } else { &["-", "_"] };
        spellings = separators
            .iter()
            .flat_map(|separator| spellings.iter().map(move |begun| format!("{begun}{separator}{part}")))
            .collect();
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_removed_at_the_edge_and_only_the_routing_header_inside() {
        let edge = untrusted_headers(&HeaderNames::default(), Position::Edge);
        assert_eq!(edge.len(), 12);
        for name in ["x-canary-version", "x_canary_version", "x-canary_id", "x_canary-cohort"] {
            assert!(edge.iter().any(|other| other == name), "{name}");
        }
        let mesh = untrusted_headers(&HeaderNames::default(), Position::Mesh);
        assert_eq!(mesh.len(), 4);
        assert!(mesh.iter().all(|name| name.ends_with("version")), "{mesh:?}");
    }
}
