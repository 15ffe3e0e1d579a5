//! Since when fuses of the canary are open.

use crate::record::Record;
use crate::rollout::FUSE_STAYS_CLOSED;
use jiff::Timestamp;

impl Record {
    /// Records in how many proxies a fuse of the canary is open. Returns whether the record has changed.
    ///
    /// When the last one closes, the step's time begins again: while it was open, the canary got no new sessions, so the step has
    /// seen few users. A fuse that opens again soon counts as open all the time: it closes for seconds to let new sessions try.
    pub fn note_fuses(&mut self, fused: usize, now: Timestamp) -> bool {
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) else { return false };
        let before = (rollout.fused_since, rollout.fuse_closed_at);
        if fused > 0 {
            rollout.fused_since.get_or_insert(now);
            rollout.fuse_closed_at = None;
        } else if rollout.fused_since.is_some() {
            if rollout.fuse_closed_at.is_none()
                && let Some(step) = rollout.step.as_mut()
            {
                step.since = now;
            }
            // A clock that was ahead makes the time no longer.
            let closed_at = rollout.fuse_closed_at.map_or(now, |at| at.min(now));
            rollout.fuse_closed_at = Some(closed_at);
            if now.duration_since(closed_at) >= FUSE_STAYS_CLOSED {
                (rollout.fused_since, rollout.fuse_closed_at) = (None, None);
            }
        }
        before != (rollout.fused_since, rollout.fuse_closed_at)
    }
}
