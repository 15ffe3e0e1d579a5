//! Where a secret stands. No fault repeats a text, because it may be the secret itself.

use crate::spec::{Label, SecretSource, SecretUrl};
use placed_yaml::{Node, Section};

/// Reads `url`, or the place that `urlFrom` names; a fault is recorded where there is neither or both.
pub(super) fn url_or_source(
    section: &mut Section<'_>,
    node: &Node,
) -> Option<(SecretSource, Option<SecretUrl>)> {
    let is_inline = section.node("url").is_some();
    let url = section.parsed::<SecretUrl>("url");
    let source = section.section("urlFrom");
    match (is_inline, source) {
        // One that has a fault is none.
        (true, None) => url.map(|url| (SecretSource::Inline, Some(url))),
        (false, Some(source)) => secret_source(source).map(|source| (source, None)),
        (is_both, _) => {
            let found = if is_both { "both" } else { "neither" };
            section.fault(node.place, format!("expected `url` or `urlFrom`, found {found}"), None);
            None
        }
    }
}

/// Reads the one place that it names; a fault is recorded where it names none, or several.
pub(super) fn secret_source(mut section: Section<'_>) -> Option<SecretSource> {
    let checked = |section: &mut Section<'_>, field: &'static str, expected: &str, fits: fn(&str) -> bool| {
        let node = section.node(field)?;
        let text = section.scalar(node)?;
        if fits(text) {
            return Some(text.to_owned());
        }
        section.fault(node.place, format!("expected {expected}, found another text"), None);
        None
    };
    let given = ["env", "file", "secret"].into_iter().filter(|field| section.node(field).is_some()).count();
    let env = checked(&mut section, "env", "the name of an environment variable", is_variable);
    let file = checked(&mut section, "file", "an absolute path", |path| path.starts_with('/'));
    let secret = section.section("secret").and_then(|mut secret| {
        for field in ["name", "key"] {
            secret.required(field);
        }
        let name = checked(&mut secret, "name", "the name of a Secret", is_secret_name);
        let key = checked(&mut secret, "key", "a key of a Secret", is_secret_key);
        secret.finish();
        Some(SecretSource::Secret { name: name?, key: key? })
    });
    if given != 1 {
        let message = format!("expected one of `env`, `file` and `secret`, found {given} of them");
        section.fault(section.place(), message, None);
    }
    section.finish();
    let file = file.map(|path| SecretSource::File(path.into()));
    env.map(SecretSource::Env).or(file).or(secret).filter(|_| given == 1)
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A DNS subdomain (RFC 1123).
fn is_secret_name(name: &str) -> bool {
    (1..=253).contains(&name.len()) && name.split('.').all(|label| label.parse::<Label>().is_ok())
}

fn is_secret_key(key: &str) -> bool {
    (1..=253).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}
