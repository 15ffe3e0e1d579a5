//! `spec.rollout.hooks`: webhooks. No fault repeats what may be a URL, because that is a secret.

use super::rollout::checked;
use super::secret_source::{secret_source, url_or_source};
use crate::spec::{AlertSpec, HookEndpoint, HookSpec, HookType, Label, RolloutHook, Seconds};
use placed_yaml::{Node, Section};

/// Each of them may be called in each interval.
pub(in crate::spec) const MAX_HOOKS: usize = 20;
pub(in crate::spec) const MAX_RETRIES: u32 = 10;
pub(in crate::spec) const MAX_FAILURE_THRESHOLD: u32 = 100;
/// A driver observes every ten seconds.
const MIN_INTERVAL: u64 = 10;
/// No test in one request takes longer.
const MAX_TIMEOUT: u64 = 3_600;
/// Another driver sends a notification again after thirty seconds.
const MAX_NOTIFICATION_TIMEOUT: u64 = 20;

pub(in crate::spec) const HOOK_TYPES: [(&str, HookType); 8] = [
    (HookType::ConfirmRollout.as_str(), HookType::ConfirmRollout),
    (HookType::PreRollout.as_str(), HookType::PreRollout),
    (HookType::Rollout.as_str(), HookType::Rollout),
    (HookType::ConfirmTrafficIncrease.as_str(), HookType::ConfirmTrafficIncrease),
    (HookType::ConfirmPromotion.as_str(), HookType::ConfirmPromotion),
    (HookType::PostRollout.as_str(), HookType::PostRollout),
    (HookType::Rollback.as_str(), HookType::Rollback),
    (HookType::Event.as_str(), HookType::Event),
];

/// Reads them. Faults are recorded, and a hook with one is left out.
pub(super) fn hooks(rollout: &mut Section<'_>, alerts: &AlertSpec) -> HookSpec {
    let items = rollout.list("hooks").unwrap_or_default();
    let mut spec = HookSpec::default();
    if let Some((_, node)) = items.get(MAX_HOOKS) {
        rollout.fault(node.place, format!("expected at most {MAX_HOOKS} hooks, found {}", items.len()), None);
    }
    for (path, node) in items {
        let Some((hook, endpoint)) = hook(Section::new(rollout.faults(), path, node), node) else { continue };
        if spec.hooks.iter().any(|other| other.name == hook.name) {
            let message = format!("expected a hook of another name, found `{}` twice", hook.name);
            rollout.fault(node.place, message, None);
        } else if alerts.receivers.iter().any(|receiver| receiver.name == hook.name) {
            let message =
                format!("expected the name of no receiver of `rollout.alerts`, found `{}`", hook.name);
            rollout.fault(node.place, message, None);
        }
        spec.endpoints.insert(hook.name.clone(), endpoint);
        spec.hooks.push(hook);
    }
    spec
}

fn hook(mut section: Section<'_>, node: &Node) -> Option<(RolloutHook, HookEndpoint)> {
    let name = section.required_parsed::<Label>("name");
    let kind = section.required("type").and_then(|node| section.chosen(node, &HOOK_TYPES));
    let endpoint = endpoint(&mut section, node, kind);
    let interval =
        checked(&mut section, "interval", "at least 10s", |time: &Seconds| time.get() >= MIN_INTERVAL);
    let failure_threshold = checked(&mut section, "failureThreshold", "1 to 100", |count: &u32| {
        (1..=MAX_FAILURE_THRESHOLD).contains(count)
    });
    if let Some(kind) = kind {
        for (field, is_used, types) in [
            ("interval", kind.has_interval(), "`pre-rollout`, `rollout` or `rollback`"),
            ("failureThreshold", kind.is_check(), "`pre-rollout` or `rollout`"),
            ("retries", !kind.is_notification(), "a type that is not `post-rollout` or `event`"),
        ] {
            if let Some(node) = section.node(field).filter(|_| !is_used) {
                let message = format!("expected `{field}` beside {types}, found `{kind}`");
                section.fault(node.place, message, None);
            }
        }
    }
    section.finish();
    let hook = RolloutHook {
        name: name?.to_string(),
        kind: kind?,
        interval: interval.unwrap_or(RolloutHook::INTERVAL),
        failure_threshold: failure_threshold.unwrap_or(RolloutHook::FAILURE_THRESHOLD),
    };
    Some((hook, endpoint?))
}

fn endpoint(section: &mut Section<'_>, node: &Node, kind: Option<HookType>) -> Option<HookEndpoint> {
    let url = url_or_source(section, node);
    let is_notification = kind.is_some_and(HookType::is_notification);
    let (most, expected) =
        if is_notification { (MAX_NOTIFICATION_TIMEOUT, "at most 20s") } else { (MAX_TIMEOUT, "at most 1h") };
    let timeout = checked(section, "timeout", expected, |time: &Seconds| time.get() <= most);
    let retries = checked(section, "retries", "at most 10", |count: &u32| *count <= MAX_RETRIES);
    let metadata = section.pairs("metadata").unwrap_or_default();
    // A place that has a fault is not left out: without a signature it would be another endpoint.
    let signature_key_from = match section.section("signatureKeyFrom").map(secret_source) {
        Some(source) => Some(source?),
        None => None,
    };
    let (url_from, url) = url?;
    Some(HookEndpoint {
        url_from,
        url,
        signature_key_from,
        timeout: timeout.unwrap_or(HookEndpoint::TIMEOUT),
        retries: retries.unwrap_or_default(),
        metadata,
    })
}
