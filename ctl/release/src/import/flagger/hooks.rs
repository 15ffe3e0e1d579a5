//! Webhooks: ours have the same types and payload.

use super::super::common::{Context, duration, seconds};
use super::super::difference::{COSMETIC, Fate, GUARD};
use super::super::draft::DraftField;
use super::{Analysis, service_name};
use crate::spec::HookType;
use placed_yaml::Node;
use serde_json::Value;

/// A notification is given up after this.
const MAX_NOTIFICATION: u64 = 20;
const MAX_TIMEOUT: u64 = 3_600;

const TYPES: [HookType; 8] = [
    HookType::ConfirmRollout,
    HookType::PreRollout,
    HookType::Rollout,
    HookType::ConfirmTrafficIncrease,
    HookType::ConfirmPromotion,
    HookType::PostRollout,
    HookType::Rollback,
    HookType::Event,
];

pub(super) fn read(context: &mut Context<'_>, analysis: &Analysis<'_>) {
    for (index, node) in analysis.node.list("webhooks").iter().enumerate() {
        hook(context, analysis, node, &analysis.field(&format!("webhooks[{index}]")));
    }
}

fn hook(context: &mut Context<'_>, analysis: &Analysis<'_>, node: &Node, path: &str) {
    let origin = context.origin(path);
    // Flagger calls one without a type while the analysis goes on.
    let word = node.text("type").unwrap_or("rollout");
    let Some(kind) = TYPES.into_iter().find(|kind| kind.as_str() == word) else {
        let difference = format!("`{word}` is no type of webhook");
        context.differences.lost_guard(&origin, difference, "write it into `rollout.hooks` with a type");
        return;
    };
    let name = node.text("name").unwrap_or(word);
    let label = context.label("hook", name);
    if label != name {
        context.differences.note(
            &origin,
            (COSMETIC, Fate::Differs),
            format!("`{name}` is called `{label}`"),
            "nothing",
        );
    }
    let url = node.text("url").unwrap_or_default();
    let mut fields = vec![("name", Value::from(label)), ("type", kind.as_str().into()), ("url", url.into())];
    let most = if kind.is_notification() { MAX_NOTIFICATION } else { MAX_TIMEOUT };
    if let Some(asked) = node.text("timeout").and_then(seconds) {
        if asked > most {
            let difference = format!("its timeout is {} at most", duration(most));
            context.differences.differs(
                &origin,
                COSMETIC,
                difference,
                "nothing, if it responds in that time",
            );
        }
        fields.push(("timeout", duration(asked.min(most)).into()));
    }
    if kind.has_interval() {
        fields.push(("interval", duration(analysis.interval()).into()));
    }
    if kind.is_check() {
        fields.push(("failureThreshold", analysis.threshold().into()));
    }
    let retries =
        node.text("retries").and_then(|retries| retries.parse::<u32>().ok()).filter(|retries| *retries > 0);
    if let Some(retries) = retries.filter(|_| !kind.is_notification()) {
        fields.push(("retries", retries.min(10).into()));
    }
    if let Some(metadata) = metadata(node) {
        note_gone_service(context, path, &metadata);
        fields.push(("metadata", metadata));
    }
    context.add(DraftField::fields("spec/rollout/hooks/-", fields, &origin).guard());
}

/// Texts alone, as Flagger's type has them.
fn metadata(node: &Node) -> Option<Value> {
    let entries = node.get("metadata")?.entries();
    let pairs = entries.iter().filter_map(|entry| Some((entry.key.clone(), entry.node.as_text()?.into())));
    let pairs: serde_json::Map<String, Value> = pairs.collect();
    (!pairs.is_empty()).then_some(Value::Object(pairs))
}

/// Commands of load testers name the Service that Flagger has made for the canary.
fn note_gone_service(context: &mut Context<'_>, path: &str, metadata: &Value) {
    let gone = format!("{}-canary", service_name(context));
    if metadata.to_string().contains(&gone) {
        let origin = context.origin(&format!("{path}.metadata"));
        context.differences.differs(
            &origin,
            GUARD,
            format!("it calls Service `{gone}`, which Flagger makes: nothing scales or updates what is behind it any more"),
            "call the host of the release with a signed token, or make that Service yourself",
        );
    }
}
