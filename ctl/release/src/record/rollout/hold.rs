//! Since when the evidence holds a rollout.

use crate::assessment::Assessment;
use crate::record::Record;
use jiff::Timestamp;

impl Record {
    /// Records since when the evidence speaks against the canary, or that it does not. A suspension ends the hold: a person decides. Returns
    /// whether the record has changed.
    pub fn note_held(&mut self, assessment: &Assessment, now: Timestamp) -> bool {
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) else { return false };
        let is_held = rollout.suspended.is_none() && assessment.speaks_against();
        // A time that is ahead of the clock would make the hold longer.
        let since = is_held.then(|| rollout.held_since.map_or(now, |since| since.min(now)));
        let has_changed = rollout.held_since != since;
        rollout.held_since = since;
        has_changed
    }
}
