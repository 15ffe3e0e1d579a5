//! While stable has too few pods for the users who would come back, a rollout takes no more users off it.

use super::{Decision, Ending, Rollout, RolloutAction, RolloutObservation, RolloutPhase};
use jiff::Timestamp;

impl Rollout {
    /// A wait in the place of a step or a promotion that would take users off stable.
    pub(crate) fn lacks_stable_pods(
        &self,
        step: &Decision,
        seen: &RolloutObservation,
        _: Timestamp,
    ) -> Option<Decision> {
        let scaled_down = seen.scaled_down.as_ref()?;
        let takes_users = match step.action {
            RolloutAction::EnterStep(index) => {
                self.plan.get(index).is_some_and(|next| next.weight > seen.weight)
            }
            RolloutAction::Decide(ending) => ending == Ending::Promote,
            _ => false,
        };
        let reason = format!("{scaled_down}; {}", step.reason);
        takes_users.then(|| Decision::new(RolloutPhase::Held, RolloutAction::Wait, reason))
    }
}

/// A failed rollout brings users back to stable however many pods it has, because the canary is worse; its reason has the pods.
pub(super) fn with_scaled_down(decision: Decision, seen: &RolloutObservation) -> Decision {
    match (&seen.scaled_down, decision.action) {
        (Some(scaled_down), RolloutAction::Decide(Ending::Rollback | Ending::Stop)) => {
            Decision { reason: format!("{}; {scaled_down}", decision.reason), ..decision }
        }
        _ => decision,
    }
}
