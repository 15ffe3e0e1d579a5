//! `identifyBy`: where the user's key may be, in order.

use assignment::contract::KeySource;
use placed_yaml::{Node, Section, Value};

const KINDS: &str = "expected one of cookie, header, query, jwt, identity, client-address";

/// Reads the list. Faulty items are left out, their faults noted.
pub(super) fn keys(spec: &mut Section<'_>) -> Vec<KeySource> {
    let items = spec.list("identifyBy").unwrap_or_default();
    items.into_iter().filter_map(|(path, node)| key(spec, path, node)).collect()
}

/// `cookie: NAME`, or only the keyword for the two kinds without a name.
fn key(spec: &Section<'_>, path: String, node: &Node) -> Option<KeySource> {
    if let Value::Scalar(word, _) = &node.value {
        let named = match word.as_str() {
            "identity" => Some(KeySource::Identity {}),
            "client-address" => Some(KeySource::ClientAddress {}),
            _ => None,
        };
        if named.is_none() {
            spec.fault(
                node.place,
                format!("{KINDS}, found `{word}`"),
                Some("for instance `- cookie: SESSION`".into()),
            );
        }
        return named;
    }
    let mut section = Section::new(spec.faults(), path, node);
    let found: Vec<KeySource> = [
        section.text("cookie").map(KeySource::Cookie),
        // Header names have no case; the filter sees them in lower case.
        section.text("header").map(|name| KeySource::Header(name.to_ascii_lowercase())),
        section.text("query").map(KeySource::Query),
        jwt(&mut section),
    ]
    .into_iter()
    .flatten()
    .collect();
    let faults = section.faults();
    let explained = section.finish() > 0;
    match <[KeySource; 1]>::try_from(found) {
        Ok([key]) => Some(key),
        Err(_) if explained => None,
        Err(found) => {
            faults.note(node.place, format!("{KINDS}, found {} of them", found.len()), None);
            None
        }
    }
}

/// `jwt: {claim: sub}` or `{claim: [realm, user], payload: payload}`.
fn jwt(section: &mut Section<'_>) -> Option<KeySource> {
    let mut jwt = section.section("jwt")?;
    let claim = match jwt.required("claim") {
        Some(node) if crate::spec::read::is_word(node) => {
            jwt.scalar(node).map(|claim| vec![claim.to_owned()])
        }
        Some(_) => jwt.texts("claim"),
        None => None,
    };
    let payload = jwt.text("payload").unwrap_or_else(|| "payload".to_owned());
    jwt.finish();
    Some(KeySource::Jwt { claim: claim?, payload })
}
