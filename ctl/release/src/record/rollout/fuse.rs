//! Since when fuses of the canary are open.

use crate::record::Record;
use jiff::Timestamp;

impl Record {
    /// Records since when a fuse of the canary is open in one of the proxies, or that none is. Returns whether the record has changed.
    ///
    /// When the last one closes, the step's time begins again: while it was open, the canary got no new sessions, so the step has
    /// seen few users.
    pub fn note_fuses(&mut self, fused: usize, now: Timestamp) -> bool {
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) else { return false };
        let since = if fused == 0 { None } else { rollout.fused_since.or(Some(now)) };
        let has_changed = rollout.fused_since != since;
        if let Some(step) = rollout.step.as_mut().filter(|_| has_changed && since.is_none()) {
            step.since = now;
        }
        rollout.fused_since = since;
        has_changed
    }
}
