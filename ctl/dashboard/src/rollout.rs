//! What the page shows of a rollout: where it is, what it waits for, and what the responses say.

use assignment::Weight;
use canary_operations::RolloutReport;
use canary_release::rollout::Rollout;
use canary_release::spec::RolloutStep;
use jiff::Timestamp;
use serde::Serialize;

/// A rollout that goes by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RolloutProgress {
    /// Its state, as a sentence.
    pub summary: String,
    /// Its phase; `None` where it was not observed.
    pub phase: Option<String>,
    /// The reason of its wait, or its action.
    pub reason: Option<String>,
    /// Since when evidence against the canary holds it.
    #[serde(rename = "heldSince", skip_serializing_if = "Option::is_none")]
    pub held_since: Option<Timestamp>,
    pub steps: Vec<StepView>,
    /// The evidence of the responses, by kind of failure.
    pub evidence: Vec<EvidenceView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    /// Its weight, in basis points.
    pub weight: Weight,
    /// Whether the rollout is at it.
    pub is_current: bool,
    /// Whether it is behind the rollout.
    pub is_done: bool,
}

/// The numbers of one kind of failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceView {
    /// The numbers of both versions, as a sentence.
    pub text: String,
    /// The ratio of the failure rates, and the number of users who met a failure; nothing without a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl RolloutProgress {
    /// The view by the record alone.
    pub fn of_record(rollout: &Rollout) -> Self {
        let at = rollout.step.as_ref().map(|step| step.index);
        let step = |(index, step): (usize, &RolloutStep)| StepView {
            weight: step.weight,
            is_current: rollout.is_active() && at == Some(index),
            is_done: at.is_some_and(|at| index < at),
        };
        let steps = rollout.plan.iter().enumerate().map(step).collect();
        Self {
            summary: rollout.to_string(),
            phase: None,
            reason: None,
            held_since: rollout.held_since.filter(|_| rollout.is_active()),
            steps,
            evidence: Vec::new(),
        }
    }

    /// The same with what was observed; `None` if the record has no rollout.
    pub fn of_report(report: &RolloutReport) -> Option<Self> {
        let view = Self::of_record(report.record.rollout.as_deref()?);
        let evidence = report
            .assessment
            .kinds
            .iter()
            .map(|kind| EvidenceView { text: kind.to_string(), detail: kind.detail() });
        Some(Self {
            phase: Some(report.decision.phase.to_string()),
            reason: Some(report.decision.reason.clone()),
            evidence: evidence.collect(),
            ..view
        })
    }
}
