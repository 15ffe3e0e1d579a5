//! Argo Rollouts: a `Rollout` with its `AnalysisTemplate`s, Services, VirtualService and DestinationRule.

mod analysis;
mod condition;
mod fields;
mod metrics;
mod objects;
mod service;
mod steps;
mod versions;

pub(super) use fields::{ANALYSIS_TEMPLATE, ROLLOUT};

use super::common::{Context, duration, seconds};
use super::difference::{BEHAVIOUR, Fate};
use super::draft::DraftField;
use super::fields::check;
use versions::RolloutVersions;

const CANARY: &str = "spec.strategy.canary";
const BLUE_GREEN: &str = "spec.strategy.blueGreen";
/// The label by which Argo tells the pods of two revisions.
const HASH: &str = "rollouts-pod-template-hash";
/// The prefix of subscriptions to notifications: an annotation for each trigger and service.
const SUBSCRIPTION: &str = "notifications.argoproj.io/subscribe.";

/// Reads the Rollout into the draft.
pub(super) fn read(context: &mut Context<'_>) {
    check(context.subject, ROLLOUT, &mut context.differences);
    context.metadata();
    service::read(context);
    let versions = RolloutVersions::of(context);
    versions.write(context);
    if context.subject.get(BLUE_GREEN).is_some() {
        steps::blue_green(context);
    } else {
        steps::canary(context);
    }
    analysis::read(context);
    notifications(context);
    let deadline = context.subject.text("spec.progressDeadlineSeconds").and_then(seconds);
    if let Some(deadline) = deadline {
        let origin = context.origin("spec.progressDeadlineSeconds");
        context.add(DraftField::value("spec/rollout/stalledAfter", duration(deadline), &origin));
    }
    objects::read(context, &versions);
}

/// Their templates and receivers are settings of the controller, so none can be made of an annotation.
fn notifications(context: &mut Context<'_>) {
    let subject = context.subject;
    let annotations = subject.get("metadata.annotations").map_or(&[][..], |node| node.entries());
    for entry in annotations.iter().filter(|entry| entry.key.starts_with(SUBSCRIPTION)) {
        let origin = subject
            .origin("metadata.annotations")
            .at(format!("metadata.annotations.{}", entry.key), entry.place);
        let difference =
            "notifications are sent by a service of the controller, whose settings are not in the source";
        context.differences.note(
            &origin,
            (BEHAVIOUR, Fate::Lost),
            difference,
            "write the receiver into `rollout.alerts`",
        );
    }
}
