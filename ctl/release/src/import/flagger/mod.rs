//! Flagger: a `Canary` with its `MetricTemplate`s and `AlertProvider`s.

mod alerts;
mod fields;
mod hooks;
mod metrics;
mod objects;
mod plan;
mod service;

pub(super) use fields::{ALERT_PROVIDER, CANARY, METRIC_TEMPLATE};

use super::common::Context;
use super::difference::BEHAVIOUR;
use super::draft::DraftField;
use super::fields::check;
use placed_yaml::Node;

/// Reads the Canary into the draft.
pub(super) fn read(context: &mut Context<'_>) {
    check(context.subject, CANARY, &mut context.differences);
    context.metadata();
    service::read(context);
    let analysis = ["spec.analysis", "spec.canaryAnalysis"];
    let found = analysis.iter().find_map(|path| Some((*path, context.subject.get(path)?)));
    if let Some((path, node)) = found {
        let analysis = Analysis { path, node };
        plan::read(context, &analysis);
        metrics::read(context, &analysis);
        hooks::read(context, &analysis);
        alerts::read(context, &analysis);
    } else {
        let difference =
            "without an analysis Flagger promotes without checks; the release has the default plan";
        context.differences.differs(
            &context.origin("spec"),
            BEHAVIOUR,
            difference,
            "promote by hand where no check is wanted",
        );
    }
    if let Some(deadline) =
        context.subject.text("spec.progressDeadlineSeconds").and_then(super::common::seconds)
    {
        let origin = context.origin("spec.progressDeadlineSeconds");
        let value = super::common::duration(deadline);
        context.add(DraftField::value("spec/rollout/stalledAfter", value, &origin));
    }
    objects::read(context);
}

/// The analysis of a Canary.
struct Analysis<'s> {
    path: &'static str,
    node: &'s Node,
}

impl Analysis<'_> {
    /// The time of a check, at least the ten seconds that Flagger takes.
    fn interval(&self) -> u64 {
        let text = self.node.text("interval").and_then(super::common::seconds);
        text.unwrap_or(60).max(10)
    }

    fn threshold(&self) -> u32 {
        let threshold = self.node.text("threshold").and_then(|text| text.parse().ok());
        threshold.unwrap_or(1_u32).clamp(1, 100)
    }

    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// True for an A/B test and blue/green: checks at no weight.
    fn has_iterations(&self) -> bool {
        self.node.number("iterations").is_some_and(|count| count > 0.0)
    }
}

/// The name of the Service, its canary and its primary: `web`, `web-canary`, `web-primary`.
fn service_name(context: &Context<'_>) -> String {
    let subject = context.subject;
    let named = subject.text("spec.service.name").or_else(|| subject.text("spec.targetRef.name"));
    named.unwrap_or(&context.name).to_owned()
}

fn target(context: &Context<'_>) -> String {
    context.subject.text("spec.targetRef.name").unwrap_or(&context.name).to_owned()
}
