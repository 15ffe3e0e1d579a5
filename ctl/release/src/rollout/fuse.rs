//! Row: an open fuse of the canary holds the rollout. It fails the rollout in several proxies, or if it stays open.

use super::decision::{Decision, after};
use super::{Rollout, RolloutAction, RolloutObservation, RolloutPhase};
use crate::format::counted;
use crate::spec::Seconds;
use jiff::{SignedDuration, Timestamp};

/// In so many proxies at a time: what one proxy sees may be its own trouble, a network zone for instance.
const PROXIES_THAT_FAIL: usize = 2;
/// For so many seconds, twice as long as a fuse is open the second time.
const SECONDS_THAT_FAIL: u64 = 120;
/// A fuse that opens again within this time was not closed. The filter needs ten seconds of failures to open it again.
pub(crate) const FUSE_STAYS_CLOSED: SignedDuration = SignedDuration::from_secs(30);

impl Rollout {
    /// A fuse is open.
    pub(crate) fn fused(&self, seen: &RolloutObservation, now: Timestamp) -> Option<Decision> {
        let since = self.fused_since.filter(|_| seen.fused > 0)?;
        let proxies = counted(seen.fused, "proxy", "proxies");
        let reason = format!("the fuse of the canary is open in {proxies}; {}", seen.assessment.reason);
        let lasts = Seconds::new(SECONDS_THAT_FAIL).is_none_or(|seconds| now >= after(since, seconds));
        if lasts || seen.fused >= PROXIES_THAT_FAIL {
            return Some(self.failed(reason));
        }
        Some(Decision::new(RolloutPhase::Held, RolloutAction::Wait, reason))
    }
}
