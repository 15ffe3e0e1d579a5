//! How a driver carries a decision out: the record first, then what follows from it.

use super::RolloutDriver;
use super::observe::Found;
use crate::{Error, PromoteOptions, RollbackOptions, StoredRecord, WaitOptions};
use canary_release::preflight::PreflightCheck;
use canary_release::record::{Author, Record};
use canary_release::rollout::{Decision, Ending, RolloutAction};
use jiff::Timestamp;

/// The plan of a rollout was agreed on when it was started, whatever its steps.
const AGREED: &[PreflightCheck] = &[PreflightCheck::MaxStep];

impl RolloutDriver<'_> {
    /// Does what was decided; the record afterwards.
    pub(super) async fn carry_out(&mut self, found: Found, now: Timestamp) -> Result<Record, Error> {
        let Found { mut stored, has_evidence, observed, report, .. } = found;
        let has_results = self.alerts.record_results(&mut stored.record.alerts);
        let has_note = stored.record.note_wait(&report.decision, now);
        let has_driver = self.note_driver(&mut stored.record, now);
        match report.decision.action {
            RolloutAction::Wait => {
                self.save(&mut stored, has_evidence || has_results || has_note || has_driver, now).await?;
                Ok(stored.record)
            }
            RolloutAction::Deploy => {
                self.cluster.write_record_state(&self.release, &stored).await?;
                Ok(stored.record)
            }
            RolloutAction::Execute(Ending::Promote) => self.promote(stored).await,
            RolloutAction::Execute(Ending::Rollback) => self.roll_back(stored).await,
            RolloutAction::Execute(Ending::Stop) => {
                stored.record.stop_rollout(Author::new(&self.cluster.user, now));
                self.write(stored, true, now).await
            }
            RolloutAction::EnterStep(_)
            | RolloutAction::Renew
            | RolloutAction::Decide(_)
            | RolloutAction::End(_) => self.apply(stored, &report.decision, observed.stable_pods, now).await,
        }
    }

    /// Writes a decision that the record holds.
    async fn apply(
        &mut self,
        mut stored: StoredRecord,
        decision: &Decision,
        stable_pods: usize,
        now: Timestamp,
    ) -> Result<Record, Error> {
        let before = stored.record.clone();
        stored.record.apply_decision(decision, Author::new(&self.cluster.user, now));
        stored.record.note_stable_pods(before.state.weight, stable_pods);
        if matches!(decision.action, RolloutAction::EnterStep(_)) {
            let weight = stored.record.state.weight;
            self.cluster.check_weight_change(&self.release, &before, weight, AGREED).await?;
        }
        let is_deployed_too = stored.record.state.generation != before.state.generation;
        self.write(stored, is_deployed_too, now).await
    }

    async fn write(
        &mut self,
        mut stored: StoredRecord,
        deploys: bool,
        now: Timestamp,
    ) -> Result<Record, Error> {
        if deploys {
            Box::pin(self.cluster.check_config_update(&self.release, &stored)).await?;
        }
        self.save(&mut stored, true, now).await?;
        if deploys {
            Box::pin(self.cluster.write_weight(&self.release, &stored)).await?;
        }
        Ok(stored.record)
    }

    /// Writes the record if it has changed, or if alerts are to be sent, and then sends those.
    pub(super) async fn save(
        &mut self,
        stored: &mut StoredRecord,
        has_changed: bool,
        now: Timestamp,
    ) -> Result<(), Error> {
        let before = stored.record.alerts.clone();
        let due = self.alerts.claim(&mut stored.record.alerts, now);
        if has_changed || stored.record.alerts != before {
            Box::pin(self.cluster.records.save(&self.release, stored)).await?;
            self.alerts.send(due, stored);
        }
        Ok(())
    }

    /// Tells of a rollout that a check holds. What was counted meanwhile is not written: the next interval begins where this one did. What hooks
    /// have said is, so that a test is not made again.
    pub(super) async fn note_refusal(
        &mut self,
        mut stored: StoredRecord,
        decision: &Decision,
        now: Timestamp,
    ) -> Result<(), Error> {
        let has_called = self.hooks.record_results(&mut stored.record, now);
        let has_results = self.alerts.record_results(&mut stored.record.alerts) || has_called;
        let has_note = stored.record.note_wait(decision, now);
        let has_note = self.note_driver(&mut stored.record, now) || has_note;
        match self.save(&mut stored, has_results || has_note, now).await {
            // The next reconciliation reads what the other client has written.
            Err(Error::ConcurrentChange { .. }) => Ok(()),
            done => done,
        }
    }

    fn note_driver(&self, record: &mut Record, now: Timestamp) -> bool {
        let driven = record.rollout.as_mut().zip(self.identity.as_ref());
        driven.is_some_and(|(rollout, (kind, host))| rollout.note_driver(*kind, host, now))
    }

    async fn promote(&self, stored: StoredRecord) -> Result<Record, Error> {
        let options = PromoteOptions { drain: None, skipped: AGREED };
        let mut waiting = WaitOptions { timeout: self.timeout, progress: &mut |_, _| {} };
        Box::pin(self.cluster.promote_with_followers(&self.release, stored, options, &mut waiting)).await
    }

    async fn roll_back(&self, stored: StoredRecord) -> Result<Record, Error> {
        let checked = self.cluster.check_rollback(&self.release, stored, RollbackOptions::default()).await?;
        let mut waiting = WaitOptions { timeout: self.timeout, progress: &mut |_, _| {} };
        let changed = Box::pin(self.cluster.roll_back(checked, &mut waiting)).await?;
        Ok(changed.stored.record)
    }
}
