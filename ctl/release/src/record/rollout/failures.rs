//! The failures of both versions over the time of a rollout.

use crate::record::Record;
use jiff::Timestamp;

impl Record {
    /// Adds what was counted until now to the time line of the rollout: after an interval that was added to the evidence.
    pub fn note_failures(&mut self, now: Timestamp) {
        if let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) {
            rollout.failures.add(&rollout.evidence, rollout.started_at, now);
        }
    }
}
