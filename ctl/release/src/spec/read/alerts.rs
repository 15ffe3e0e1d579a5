//! `spec.rollout.alerts`: who is told. No fault repeats what may be a URL, because that is a secret.

use crate::spec::{AlertFormat, AlertReceiver, AlertSeverity, AlertSpec, Label, SecretUrl, UrlSource};
use crate::yaml::{Node, Section};

/// Each alert is sent to all of them.
pub(in crate::spec) const MAX_RECEIVERS: usize = 10;

pub(in crate::spec) const FORMATS: [(&str, AlertFormat); 5] = [
    ("slack", AlertFormat::Slack),
    ("discord", AlertFormat::Discord),
    ("teams", AlertFormat::Teams),
    ("webhook", AlertFormat::Webhook),
    ("cloudevents", AlertFormat::CloudEvents),
];
pub(in crate::spec) const SEVERITIES: [(&str, AlertSeverity); 3] =
    [("info", AlertSeverity::Info), ("warning", AlertSeverity::Warning), ("error", AlertSeverity::Error)];

/// Reads them. Faults are recorded, and a receiver with one is left out.
pub(super) fn alerts(rollout: &mut Section<'_>) -> AlertSpec {
    let items = rollout.list("alerts").unwrap_or_default();
    let mut spec = AlertSpec::default();
    if let Some((_, node)) = items.get(MAX_RECEIVERS) {
        rollout.fault(
            node.place,
            format!("expected at most {MAX_RECEIVERS} receivers, found {}", items.len()),
            None,
        );
    }
    for (path, node) in items {
        let Some((receiver, url)) = receiver(Section::new(rollout.faults(), path, node), node) else {
            continue;
        };
        if spec.receivers.iter().any(|other| other.name == receiver.name) {
            let message = format!("expected a receiver of another name, found `{}` twice", receiver.name);
            rollout.fault(node.place, message, None);
        }
        spec.urls.extend(url.map(|url| (receiver.name.clone(), url)));
        spec.receivers.push(receiver);
    }
    spec
}

fn receiver(mut section: Section<'_>, node: &Node) -> Option<(AlertReceiver, Option<SecretUrl>)> {
    let name = section.required_parsed::<Label>("name");
    let required = section.required("type");
    let format = required.and_then(|node| section.chosen(node, &FORMATS));
    let severity = section.choice("severity", &SEVERITIES).unwrap_or_default();
    let is_inline = section.node("url").is_some();
    let url = section.parsed::<SecretUrl>("url");
    let source = section.section("urlFrom");
    let url_from = match (is_inline, source) {
        (true, None) => Some(UrlSource::Inline),
        (false, Some(source)) => url_source(source, section.node("urlFrom")?),
        (is_both, _) => {
            let found = if is_both { "both" } else { "neither" };
            section.fault(node.place, format!("expected `url` or `urlFrom`, found {found}"), None);
            None
        }
    };
    section.finish();
    let receiver = AlertReceiver { name: name?.to_string(), format: format?, severity, url_from: url_from? };
    // One whose URL has a fault is none.
    (url.is_some() == is_inline).then_some((receiver, url))
}

fn url_source(mut section: Section<'_>, node: &Node) -> Option<UrlSource> {
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
        Some(UrlSource::Secret { name: name?, key: key? })
    });
    if given != 1 {
        let message = format!("expected one of `env`, `file` and `secret`, found {given} of them");
        section.fault(node.place, message, None);
    }
    section.finish();
    let file = file.map(|path| UrlSource::File(path.into()));
    env.map(UrlSource::Env).or(file).or(secret).filter(|_| given == 1)
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
