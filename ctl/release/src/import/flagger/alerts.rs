//! Alerts, each with its provider.

use super::super::common::Context;
use super::super::difference::{BEHAVIOUR, COSMETIC, Fate, SourceOrigin};
use super::super::draft::DraftField;
use super::super::fields::check;
use super::super::source::SourceObject;
use super::{ALERT_PROVIDER, Analysis};
use placed_yaml::Node;
use serde_json::{Value, json};

const FORMATS: [(&str, &str); 3] = [("slack", "slack"), ("discord", "discord"), ("msteams", "teams")];

pub(super) fn read(context: &mut Context<'_>, analysis: &Analysis<'_>) {
    for (index, node) in analysis.node.list("alerts").iter().enumerate() {
        let origin = context.origin(&analysis.field(&format!("alerts[{index}]")));
        alert(context, node, &origin);
    }
}

fn alert(context: &mut Context<'_>, node: &Node, origin: &SourceOrigin) {
    let lost = |context: &mut Context<'_>, origin: &SourceOrigin, difference: String, action: &str| {
        context.differences.note(origin, (BEHAVIOUR, Fate::Lost), difference, action);
    };
    let reference = node.get("providerRef");
    let name = reference.and_then(|reference| reference.text("name")).unwrap_or_default();
    let namespace = reference.and_then(|reference| reference.text("namespace"));
    let namespace = namespace.unwrap_or(&context.namespace).to_owned();
    let Some(provider) = context.sources.find(&["AlertProvider"], name, &namespace) else {
        let difference = format!("AlertProvider `{namespace}/{name}` is in none of the sources");
        lost(context, origin, difference, "give the file with it, too, or write `rollout.alerts`");
        return;
    };
    check(provider, ALERT_PROVIDER, &mut context.differences);
    let kind = provider.text("spec.type").unwrap_or_default();
    let Some((_, format)) = FORMATS.iter().find(|(theirs, _)| *theirs == kind) else {
        let difference = format!("alerts of type `{kind}` have no format here");
        lost(
            context,
            &provider.origin("spec.type"),
            difference,
            "take a receiver of type `webhook` or `cloudevents`",
        );
        return;
    };
    let Some(url) = url(context, provider, &namespace) else {
        lost(
            context,
            &provider.origin("spec"),
            "the provider has neither address nor Secret".to_owned(),
            "write `rollout.alerts`",
        );
        return;
    };
    let severity = match node.text("severity") {
        Some("warn") => "warning",
        Some("error") => "error",
        _ => "info",
    };
    let label = context.label("hook", node.text("name").unwrap_or(name));
    let fields =
        vec![("name", Value::from(label)), ("type", (*format).into()), ("severity", severity.into()), url];
    context.add(DraftField::fields("spec/rollout/alerts/-", fields, origin));
}

/// The source of the URL: the Secret's key `address`, else the provider.
fn url(context: &mut Context<'_>, provider: &SourceObject, namespace: &str) -> Option<(&'static str, Value)> {
    let Some(secret) = provider.text("spec.secretRef.name") else {
        return Some(("url", provider.text("spec.address")?.into()));
    };
    let origin = provider.origin("spec.secretRef");
    if namespace != context.namespace {
        let difference = format!(
            "the Secret is in namespace `{namespace}`; receivers read those of the release's namespace"
        );
        context.differences.differs(&origin, BEHAVIOUR, difference, "copy the Secret");
    }
    if provider.get("spec.address").is_some() {
        let difference = "the Secret may have a token of a bot; receivers need the URL of an incoming webhook, the key `address`";
        context.differences.differs(&origin, BEHAVIOUR, difference, "check the Secret");
    } else {
        context.differences.differs(&origin, COSMETIC, "the URL is read from the key `address`", "nothing");
    }
    Some(("urlFrom", json!({"secret": {"name": secret, "key": "address"}})))
}
