//! The steps of an analysis as a plan.

use super::super::common::{Context, duration, percent};
use super::super::difference::{BEHAVIOUR, GUARD, SourceOrigin};
use super::super::draft::DraftField;
use super::Analysis;
use placed_yaml::Node;
use serde_json::Value;

/// More steps are no plan here, and Flagger's `stepWeight: 1` would have a hundred.
const MAX_STEPS: usize = 50;

pub(super) fn read(context: &mut Context<'_>, analysis: &Analysis<'_>) {
    if analysis.has_iterations() {
        without_weights(context, analysis);
    } else {
        weights(context, analysis);
    }
}

/// A/B tests and blue/green: testers first, then all users at once.
fn without_weights(context: &mut Context<'_>, analysis: &Analysis<'_>) {
    let origin = context.origin(&analysis.field("iterations"));
    let iterations =
        analysis.node.text("iterations").and_then(|count| count.parse::<u64>().ok()).unwrap_or(1);
    let hold = duration(analysis.interval().saturating_mul(iterations).min(86_400));
    let step = |weight: i32| {
        DraftField::fields(
            "spec/rollout/plans/default/-",
            vec![("weight", weight.into()), ("hold", hold.clone().into()), ("gate", "manual".into())],
            &origin,
        )
    };
    context.add(step(0).comment("Testers alone: signed tokens lead to the canary."));
    context.add(step(100).comment("All new users; the sessions of stable finish there."));
    context.add(DraftField::value("spec/maxStep", 100, &origin));
    context.add(DraftField::value("spec/override", "token", &origin));
    context.differences.differs(
        &origin,
        GUARD,
        "Flagger checks metrics and calls `rollout` webhooks before any user is moved; here both count in steps with users, and a person opens each step",
        "test at 0% by a `pre-rollout` hook, or write steps with small weights between the two",
    );
}

fn weights(context: &mut Context<'_>, analysis: &Analysis<'_>) {
    let name = ["stepWeights", "stepWeight", "maxWeight"]
        .into_iter()
        .find(|name| analysis.node.get(name).is_some_and(|node| !node.is_off()))
        .unwrap_or("stepWeight");
    let origin = context.origin(&analysis.field(name));
    let all = all_weights(analysis.node);
    let mut steps: Vec<f64> = Vec::new();
    for weight in all.iter().copied() {
        if weight > steps.last().copied().unwrap_or_default() && weight < 100.0 {
            steps.push(weight);
        } else if weight < 100.0 {
            context.differences.differs(
                &origin,
                BEHAVIOUR,
                format!("a step of {weight}% does not raise the weight, and is left out"),
                "nothing",
            );
        }
    }
    if steps.is_empty() {
        no_steps(context, &origin);
        return;
    }
    let hold = duration(analysis.interval());
    for weight in &steps {
        let fields = vec![("weight", percent(*weight)), ("hold", Value::from(hold.clone()))];
        context.add(DraftField::fields("spec/rollout/plans/default/-", fields, &origin).guard());
    }
    let raise = steps.iter().scan(0.0, |before, weight| Some(weight - std::mem::replace(before, *weight)));
    let most = raise.fold(0.0, f64::max);
    if most > 50.0 {
        context.add(DraftField::value("spec/maxStep", percent(most), &origin));
    }
    let field = DraftField::value("spec/override", "token", &origin);
    context.add(field.comment("Testers reach the canary with a signed token."));
    context.differences.differs(
        &origin,
        BEHAVIOUR,
        "a step lasts until it has seen enough responses of the canary, too (300 unless set), and compares them with stable's; past the last step all new users get the new version",
        "set `rollout.minResponses` if the traffic is small",
    );
}

fn no_steps(context: &mut Context<'_>, origin: &SourceOrigin) {
    context.differences.differs(
        origin,
        GUARD,
        "the analysis has no step with a share of users: Flagger goes to all users at once; the release has the default plan",
        "write the steps that you want into `rollout.plans`",
    );
    context.add(DraftField::value("spec/override", "token", origin));
}

/// As Flagger's scheduler computes them; of more steps than a plan has, each n-th.
fn all_weights(node: &Node) -> Vec<f64> {
    let listed: Vec<f64> =
        node.list("stepWeights").iter().filter_map(|weight| weight.as_text()?.parse().ok()).collect();
    let step = node.number("stepWeight").unwrap_or_default();
    if step <= 0.0 {
        return listed.into_iter().filter(|weight| weight.is_finite()).take(MAX_STEPS).collect();
    }
    let most = node.number("maxWeight").filter(|most| *most > 0.0).unwrap_or(100.0).min(100.0);
    let all = std::iter::successors(Some(step.min(most)), |weight| {
        (*weight < most).then(|| (weight + step).min(most)).filter(|next| next > weight)
    });
    let all: Vec<f64> = all.take(10_000).collect();
    let stride = all.len().div_ceil(MAX_STEPS);
    all.into_iter().skip(stride - 1).step_by(stride).collect()
}
