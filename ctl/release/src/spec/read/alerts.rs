//! `spec.rollout.alerts`: who is told. No fault repeats what may be a URL, because that is a secret.

use super::secret_source::url_or_source;
use crate::spec::{AlertFormat, AlertReceiver, AlertSeverity, AlertSpec, Label, ReceiverEndpoint};
use placed_yaml::{Node, Section};

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
        let Some((receiver, endpoint)) = receiver(Section::new(rollout.faults(), path, node), node) else {
            continue;
        };
        if spec.receivers.iter().any(|other| other.name == receiver.name) {
            let message = format!("expected a receiver of another name, found `{}` twice", receiver.name);
            rollout.fault(node.place, message, None);
        }
        spec.endpoints.insert(receiver.name.clone(), endpoint);
        spec.receivers.push(receiver);
    }
    spec
}

fn receiver(mut section: Section<'_>, node: &Node) -> Option<(AlertReceiver, ReceiverEndpoint)> {
    let name = section.required_parsed::<Label>("name");
    let required = section.required("type");
    let format = required.and_then(|node| section.chosen(node, &FORMATS));
    let severity = section.choice("severity", &SEVERITIES).unwrap_or_default();
    let url = url_or_source(&mut section, node);
    section.finish();
    let (url_from, url) = url?;
    let endpoint = ReceiverEndpoint { format: format?, url_from, url };
    Some((AlertReceiver { name: name?.to_string(), severity }, endpoint))
}
