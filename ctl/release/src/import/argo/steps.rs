//! The steps of a Rollout as a plan.

use super::super::common::{Context, duration, percent, seconds};
use super::super::difference::{BEHAVIOUR, Fate, GUARD, SourceOrigin};
use super::super::draft::DraftField;
use super::{BLUE_GREEN, CANARY};
use placed_yaml::Node;
use serde_json::Value;

/// The least time of a step: a driver observes each ten seconds.
const LEAST: u64 = 10;

/// A step of the plan while it is read.
struct Step {
    weight: f64,
    hold: u64,
    is_manual: bool,
    origin: SourceOrigin,
}

/// A canary of steps with weights and pauses.
pub(super) fn canary(context: &mut Context<'_>) {
    let path = format!("{CANARY}.steps");
    let steps = context.subject.get(&path).map_or(&[][..], Node::items);
    if context.subject.get(&format!("{CANARY}.trafficRouting")).is_none() {
        let origin = context.origin(CANARY);
        context.differences.differs(&origin, BEHAVIOUR, "without `trafficRouting` a weight is a share of pods; here it is a share of users, whatever the number of pods", "scale each version for its users");
    }
    let most = context.subject.get(&format!("{CANARY}.trafficRouting"));
    let most = most
        .and_then(|routing| routing.number("maxTrafficWeight"))
        .filter(|most| *most > 0.0)
        .unwrap_or(100.0);
    let mut plan: Vec<Step> = Vec::new();
    for (index, node) in steps.iter().enumerate() {
        let origin = context.origin(&format!("{path}[{index}]"));
        if let Some(weight) = node.number("setWeight") {
            set_weight(context, &mut plan, weight * 100.0 / most, origin);
        } else if let Some(pause) = node.get("pause") {
            pause_step(context, &mut plan, pause, origin);
        }
    }
    write(context, plan, &path);
    let origin = context.origin(&path);
    let field = DraftField::value("spec/override", "token", &origin);
    context.add(field.comment("Testers reach the canary with a signed token."));
}

fn set_weight(context: &mut Context<'_>, plan: &mut Vec<Step>, weight: f64, origin: SourceOrigin) {
    let before = plan.last().map_or(0.0, |step| step.weight);
    if weight > before && weight <= 100.0 {
        plan.push(Step { weight, hold: 0, is_manual: false, origin });
    } else if weight < before || weight > 100.0 {
        let difference =
            format!("a step of {weight}% after {before}% does not raise the weight, and is left out");
        context.differences.note(&origin, (BEHAVIOUR, Fate::Lost), difference, "write the plan without it");
    }
}

fn pause_step(context: &mut Context<'_>, plan: &mut Vec<Step>, pause: &Node, origin: SourceOrigin) {
    let time = pause.text("duration");
    let hold = time.and_then(seconds);
    if let (Some(time), None) = (time, hold) {
        let difference = format!("`{time}` is no duration: a person opens the step");
        context.differences.differs(&origin, BEHAVIOUR, difference, "set `hold` of the step");
    }
    match (plan.last_mut(), hold) {
        (Some(step), Some(hold)) => step.hold = step.hold.saturating_add(hold),
        (Some(step), None) => step.is_manual = true,
        (None, None) => plan.push(Step { weight: 0.0, hold: 0, is_manual: true, origin }),
        (None, Some(_)) => context.differences.differs(
            &origin,
            BEHAVIOUR,
            "a pause before the first weight is left out: a step without users needs a person",
            "start the rollout later",
        ),
    }
}

/// Writes the steps that a plan has: those at 100% are the promotion, unless a person opens it.
fn write(context: &mut Context<'_>, plan: Vec<Step>, path: &str) {
    let is_step = |step: &Step| step.weight < 100.0 || step.is_manual;
    for step in plan.iter().filter(|step| !is_step(step) && step.hold > 0) {
        context.differences.differs(&step.origin, BEHAVIOUR, "past the last step the promotion follows at once: all new users get the canary, and sessions finish on stable", "nothing, or a step at 100% with `gate: manual`");
    }
    let plan: Vec<Step> = plan.into_iter().filter(is_step).take(50).collect();
    if plan.is_empty() {
        let origin = context.origin(path);
        context.differences.differs(&origin, GUARD, "no step has a share of users: Argo replaces the pods as a Deployment does; the release has the default plan", "write the steps that you want into `rollout.plans`");
        return;
    }
    let mut most: f64 = 0.0;
    let mut before = 0.0;
    for step in &plan {
        most = most.max(step.weight - before);
        before = step.weight;
        let mut fields =
            vec![("weight", percent(step.weight)), ("hold", Value::from(duration(step.hold.max(LEAST))))];
        if step.is_manual {
            fields.push(("gate", "manual".into()));
        }
        context.add(DraftField::fields("spec/rollout/plans/default/-", fields, &step.origin).guard());
    }
    if most > 50.0 {
        let origin = context.origin(path);
        context.add(DraftField::value("spec/maxStep", percent(most), &origin));
    }
    let origin = context.origin(path);
    context.differences.differs(&origin, BEHAVIOUR, "a step lasts until it has seen enough responses of the canary, too (300 unless set), and compares them with stable's", "set `rollout.minResponses` if the traffic is small");
}

/// Testers first, then all new users.
pub(super) fn blue_green(context: &mut Context<'_>) {
    let origin = context.origin(BLUE_GREEN);
    for (weight, comment) in [
        (0, "Testers alone: signed tokens lead to the canary."),
        (100, "All new users; the sessions of stable finish there."),
    ] {
        let fields = vec![("weight", weight.into()), ("hold", Value::from("1m")), ("gate", "manual".into())];
        context.add(DraftField::fields("spec/rollout/plans/default/-", fields, &origin).comment(comment));
    }
    context.add(DraftField::value("spec/maxStep", 100, &origin));
    context.add(DraftField::value("spec/override", "token", &origin));
    let field = format!("{BLUE_GREEN}.autoPromotionEnabled");
    if context.subject.text(&field) != Some("false") {
        let origin = context.origin(&field);
        context.differences.differs(
            &origin,
            BEHAVIOUR,
            "Argo promotes when the pods are ready; here a person opens each step",
            "write steps with small weights, which the evidence opens",
        );
    }
}
