//! One metric of an analysis: the parts that the readers of both peers write alike.

use super::common::{Context, duration, number};
use super::difference::{BEHAVIOUR, COSMETIC, Fate, GUARD, SourceOrigin};
use super::draft::DraftField;
use super::query::VERSION;
use serde_json::Value;

/// A metric as a release has it.
pub(super) struct Metric<'m> {
    pub(super) name: &'m str,
    pub(super) query: &'m str,
    pub(super) query_origin: &'m SourceOrigin,
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    /// In seconds.
    pub(super) interval: u64,
    pub(super) failure_threshold: u32,
}

impl Metric<'_> {
    /// Adds it to the draft, and notes where its name or its query means something else.
    pub(super) fn write(self, context: &mut Context<'_>, origin: &SourceOrigin) {
        if !self.query.contains(VERSION) {
            let difference = "the query does not name the canary: its value is of both versions together, and a small canary hardly changes it";
            let action = format!("name the version by `{VERSION}`");
            context.differences.differs(self.query_origin, GUARD, difference, action);
        }
        let label = context.label("metric", self.name);
        if label != self.name {
            let difference = format!("`{}` is called `{label}`", self.name);
            context.differences.note(origin, (COSMETIC, Fate::Differs), difference, "nothing");
        }
        let mut fields = vec![("name", Value::from(label)), ("query", self.query.into())];
        fields.extend(self.min.map(|min| ("min", number(min))));
        fields.extend(self.max.map(|max| ("max", number(max))));
        fields.push(("interval", duration(self.interval).into()));
        fields.push(("failureThreshold", self.failure_threshold.into()));
        context.add(DraftField::fields("spec/rollout/metrics/-", fields, origin).guard());
    }
}

/// True if a release with its one Prometheus can ask this one; another one is noted.
pub(super) fn is_asked(context: &mut Context<'_>, address: Option<&str>, origin: &SourceOrigin) -> bool {
    let is_first = context.prometheus(address, origin);
    if !is_first {
        let difference = "it is asked of another Prometheus than the metrics before it; a release has one";
        context.differences.lost_guard(origin, difference, "ask one that has all of them");
    }
    is_first
}

/// Notes that a query about the canary's Service is about our Service and a label.
pub(super) fn note_service(context: &mut Context<'_>, service: &str, origin: &SourceOrigin) {
    let difference = format!(
        "the query is about `{service}`; the imported one is about the Service and the label `destination_version`"
    );
    context.differences.differs(origin, BEHAVIOUR, difference, "check the query");
}
