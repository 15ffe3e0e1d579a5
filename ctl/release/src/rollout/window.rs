//! Between its windows a rollout sends no more users to the canary. What protects users is done at any time.

use super::decision::Decision;
use super::{Ending, Rollout, RolloutAction, RolloutObservation, RolloutPhase};
use jiff::Timestamp;

impl Rollout {
    /// A wait for the next window in the place of a step or a promotion outside of all.
    pub(crate) fn outside_windows(
        &self,
        step: &Decision,
        _: &RolloutObservation,
        now: Timestamp,
    ) -> Option<Decision> {
        let is_limited =
            matches!(step.action, RolloutAction::EnterStep(_) | RolloutAction::Decide(Ending::Promote));
        let is_open = self.windows.is_empty() || self.windows.iter().any(|window| window.is_open(now));
        if is_open || !is_limited {
            return None;
        }
        let next = self.windows.iter().filter_map(|window| window.next_start(now)).min();
        let next = next.map_or_else(
            || "none of its time zones is known here".to_owned(),
            |next| {
                let zone = next.time_zone().iana_name().unwrap_or_default().to_owned();
                format!("the next one begins at {} {zone}", next.strftime("%F %R"))
            },
        );
        let reason = format!("outside the windows of the rollout, {next}; {}", step.reason);
        Some(Decision::new(RolloutPhase::Progressing, RolloutAction::Wait, reason))
    }
}
