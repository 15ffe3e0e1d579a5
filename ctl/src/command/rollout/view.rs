//! A rollout as it is printed: where it is, what it does and why, and the numbers of both versions.

use super::change::none;
use crate::Error;
use crate::report::{Report, escape};
use assignment::Weight;
use canary_operations::RolloutReport;
use canary_release::alert::AlertOutbox;
use canary_release::analysis::MetricReport;
use canary_release::assessment::Assessment;
use canary_release::evidence::{FailureKind, KindNumbers, ProxyCoverage, RestartCounts, TrainReport};
use canary_release::hook::HookReport;
use canary_release::record::Record;
use canary_release::rollout::{Decision, Rollout, RolloutForecast};
use canary_release::spec::ReleaseName;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// A rollout. Weights in basis points.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RolloutView {
    release: String,
    rollout: Box<Rollout>,
    weight: Weight,
    /// The alerts that were not delivered yet.
    #[serde(skip_serializing_if = "AlertOutbox::is_empty")]
    alerts: AlertOutbox,
    #[serde(flatten)]
    observed: Option<Observed>,
}

/// A release whose record has no rollout.
#[derive(Clone, Debug, Serialize)]
pub(super) struct NoRollout {
    release: String,
    rollout: Option<Rollout>,
}

impl NoRollout {
    pub(super) fn of(name: &ReleaseName) -> Self {
        Self { release: name.to_string(), rollout: None }
    }
}

impl Report for NoRollout {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{}: no rollout", self.release)
    }
}

#[derive(Clone, Debug, Serialize)]
struct Observed {
    #[serde(flatten)]
    decision: Decision,
    /// The numbers of each kind of failure.
    kinds: Vec<KindNumbers>,
    /// The number of restarts of containers.
    #[serde(skip_serializing_if = "RestartCounts::is_empty")]
    restarts: RestartCounts,
    /// The measurements of metrics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<MetricReport>,
    /// The responses of hooks since the step began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<HookReport>,
    proxies: ProxyCoverage,
    /// The observations of the other releases of the train.
    #[serde(skip_serializing_if = "TrainReport::is_empty")]
    train: TrainReport,
    /// The differences that the traffic of the step can show.
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<RolloutForecast>,
}

impl RolloutView {
    /// The view of the record alone. Fails where it has no rollout.
    pub(super) fn of_record(name: &ReleaseName, record: &Record) -> Result<Self, Error> {
        let rollout = record.rollout.clone().ok_or_else(none)?;
        let (weight, alerts) = (record.state.weight, record.alerts.clone());
        Ok(Self { release: name.to_string(), rollout, weight, alerts, observed: None })
    }

    /// The same with what was observed.
    pub(super) fn of_report(name: &ReleaseName, report: RolloutReport) -> Result<Self, Error> {
        let view = Self::of_record(name, &report.record)?;
        let forecast = view.rollout.forecast(Timestamp::now()).filter(|_| view.rollout.is_active());
        let RolloutReport { decision, assessment, proxies, .. } = report;
        let Assessment { kinds, restarts, metrics, hooks, train, .. } = assessment;
        let observed = Observed { decision, kinds, restarts, metrics, hooks, proxies, train, forecast };
        Ok(Self { observed: Some(observed), ..view })
    }
}

impl Report for RolloutView {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{}: {}", self.release, escape::line(&self.rollout.to_string()))?;
        if let Some(driver) = self.rollout.driver.as_ref().filter(|_| self.rollout.is_active()) {
            writeln!(out, "driven by {}", escape::line(&driver.to_string()))?;
        }
        let Some(observed) = &self.observed else {
            let steps = self.rollout.plan.iter().map(|step| step.weight.to_string()).collect::<Vec<_>>();
            return writeln!(out, "weight {}, steps {}", self.weight, steps.join(", "));
        };
        let Observed { decision, kinds, restarts, metrics, hooks, proxies, train, forecast } = observed;
        writeln!(out, "{}: {}", decision.phase, escape::line(&decision.reason))?;
        text_of_kinds(kinds, out)?;
        if restarts.canary.restarts + restarts.stable.restarts > 0 {
            writeln!(out, "{restarts}")?;
        }
        for metric in metrics {
            writeln!(out, "{}", escape::line(&metric.to_string()))?;
        }
        for hook in hooks {
            writeln!(out, "{}", escape::line(&hook.to_string()))?;
        }
        writeln!(out, "counters of {} of {} proxies", proxies.observed, proxies.of)?;
        for inner in &train.releases {
            writeln!(out, "{}", escape::line(&inner.to_string()))?;
        }
        if let Some(unread) = &train.unread {
            writeln!(out, "{}", escape::line(&format!("other releases of the train: {unread}")))?;
        }
        if let Some(forecast) = forecast {
            writeln!(out, "{forecast}")?;
        }
        self.text_of_alerts(out)
    }
}

fn text_of_kinds(kinds: &[KindNumbers], out: &mut dyn fmt::Write) -> fmt::Result {
    for kind in kinds {
        writeln!(out, "{kind}")?;
        if let Some(detail) = kind.detail() {
            writeln!(out, "  {detail}")?;
        }
    }
    let is_compared = |kind: &&FailureKind| kinds.iter().any(|numbers| numbers.kind == **kind);
    let others = FailureKind::ALL.iter().filter(|kind| !is_compared(kind)).map(ToString::to_string);
    let others = others.collect::<Vec<_>>();
    if others.is_empty() { Ok(()) } else { writeln!(out, "not compared: {}", others.join(", ")) }
}

impl RolloutView {
    fn text_of_alerts(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for pending in self.alerts.pending() {
            let to = pending.recipients().map(|(to, attempts)| match attempts {
                0 => to.name().to_owned(),
                _ => format!("{} (sent {attempts} times)", to.name()),
            });
            let to = to.collect::<Vec<_>>().join(", ");
            let text =
                format!("alert {} ({}) is to be sent to {to}", pending.alert.id, pending.alert.kind.as_str());
            writeln!(out, "{}", escape::line(&text))?;
        }
        for undelivered in self.alerts.undelivered() {
            writeln!(out, "{}", escape::line(&undelivered.to_string()))?;
        }
        Ok(())
    }
}
