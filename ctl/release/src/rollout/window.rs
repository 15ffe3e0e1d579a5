//! Between its windows a rollout sends no more users to the canary. What protects users is done at any time.

use super::decision::Decision;
use super::{Ending, Rollout, RolloutAction, RolloutPhase};
use jiff::Timestamp;

impl Rollout {
    /// The same decision in a window, and for a rollout without any; else a wait for the next one, if it would raise the weight or promote.
    pub(crate) fn in_window(&self, decision: Decision, now: Timestamp) -> Decision {
        let is_limited =
            matches!(decision.action, RolloutAction::EnterStep(_) | RolloutAction::Decide(Ending::Promote));
        let is_open = self.windows.is_empty() || self.windows.iter().any(|window| window.is_open(now));
        if is_open || !is_limited {
            return decision;
        }
        let next = self.windows.iter().filter_map(|window| window.next_start(now)).min();
        let next = next.map_or_else(
            || "none of its time zones is known here".to_owned(),
            |next| {
                let zone = next.time_zone().iana_name().unwrap_or_default().to_owned();
                format!("the next one begins at {} {zone}", next.strftime("%F %R"))
            },
        );
        let reason = format!("outside the windows of the rollout, {next}; {}", decision.reason);
        Decision::new(RolloutPhase::Progressing, RolloutAction::Wait, reason)
    }
}
