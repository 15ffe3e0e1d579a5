//! The start of a rollout: from a plan of the file to what the record keeps, which is all that its drivers follow.

use crate::alert::AlertKind;
use crate::evidence::Evidence;
use crate::record::{Author, Operation, Record};
use crate::rollout::decision::seconds;
use crate::rollout::{AlertState, FailureTimeline, Rollout, VerbError};
use crate::spec::{Milliseconds, RolloutSpec};
use assignment::contract::Role;
use jiff::Timestamp;
use std::collections::BTreeMap;

impl Record {
    /// Starts a rollout of the canary. Its first step is a driver's.
    ///
    /// # Errors
    ///
    /// If there is no canary, no such plan, or a rollout of it goes on.
    pub fn start_rollout(
        &mut self,
        spec: &RolloutSpec,
        plan_name: &str,
        by: Author<'_>,
    ) -> Result<(), VerbError> {
        let canary = self.state.version_of(Role::Canary).ok_or(VerbError::NoCanary)?.to_owned();
        if let Some(active) =
            self.rollout.as_ref().filter(|active| active.is_active() && active.canary == canary)
        {
            return Err(VerbError::AlreadyActive { canary, by: active.by.clone() });
        }
        let plan = spec.plans.get(plan_name).ok_or_else(|| VerbError::UnknownPlan {
            name: plan_name.to_owned(),
            known: spec.plans.keys().map(|name| format!("`{name}`")).collect(),
        })?;
        self.rollout = Some(Box::new(Rollout {
            canary,
            plan_name: plan_name.to_owned(),
            plan: plan.clone(),
            policy: spec.policy,
            windows: spec.windows.clone(),
            depends_on: spec.depends_on.clone(),
            by: by.name.to_owned(),
            started_at: by.at,
            step: None,
            suspended: None,
            ending: None,
            ended: None,
            evidence: Evidence::new(spec.policy.optional_kinds()),
            failures: FailureTimeline::default(),
            train: BTreeMap::new(),
            fused_since: None,
            fuse_closed_at: None,
            held_since: None,
            metrics: spec.analysis.metrics.clone(),
            measured: BTreeMap::new(),
            hooks: spec.hooks.hooks.clone(),
            hook_states: BTreeMap::new(),
            driver: None,
            alerts: AlertState::begin(spec.alerts.receivers.clone(), by.at),
        }));
        self.count_by_group(Some(by.at), by);
        let weights = plan.iter().map(|step| step.weight.to_string()).collect::<Vec<_>>().join(", ");
        self.alert(AlertKind::Started, &format!("started by {}: {weights}", by.name), by.at);
        Ok(())
    }

    /// Lets the proxies count by user group from a moment on, or no more, as the next generation.
    pub(super) fn count_by_group(&mut self, since: Option<Timestamp>, by: Author<'_>) {
        let policy = self.rollout.as_ref().map(|rollout| rollout.policy).filter(|_| since.is_some());
        let slower_than = policy.and_then(|policy| policy.slower_than);
        self.state.rollout_since_seconds = since.map_or(0, seconds);
        self.state.slower_than_milliseconds =
            slower_than.map_or_else(|| self.slower_than_without_rollout(), Milliseconds::get);
        self.state.generation += 1;
        self.append_history(by, self.state.weight, Operation::Rollout);
    }
}
