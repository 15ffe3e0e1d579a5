//! How long a plan takes with the traffic that a release has: most rollouts that never end have too little of it.

use super::{Gate, RolloutPolicy, RolloutSpec, RolloutStep, Seconds};
use std::time::Duration;

/// Steps of the search below; each halves the error.
const ITERATIONS: usize = 60;
/// No release has more requests a second.
const MAX_RATE: f64 = 1e9;

impl RolloutSpec {
    /// Seconds from the start of a plan to its end with so many requests a second, of both versions, where nothing speaks against the
    /// canary and people approve at once. `None` without such a plan.
    pub fn seconds_of_plan(&self, plan: &str, requests_per_second: f64) -> Option<f64> {
        let steps = self.plans.get(plan)?.iter();
        Some(steps.map(|step| step.seconds(&self.policy, requests_per_second)).sum())
    }

    /// The fewest requests a second with which a plan ends before its deadline. `None` without such a plan, and where its steps alone take longer.
    pub fn least_requests_per_second(&self, plan: &str) -> Option<f64> {
        let deadline = Duration::from_secs(self.policy.deadline.get()).as_secs_f64();
        let ends = |rate| self.seconds_of_plan(plan, rate).is_some_and(|seconds| seconds <= deadline);
        if !ends(MAX_RATE) {
            return None;
        }
        // By factors, since the rate may be of any size.
        let (mut low, mut high) = (-MAX_RATE.ln(), MAX_RATE.ln());
        for _ in 0..ITERATIONS {
            let middle = f64::midpoint(low, high);
            if ends(middle.exp()) { high = middle } else { low = middle }
        }
        Some(high.exp())
    }
}

impl RolloutStep {
    /// Seconds that the step takes.
    fn seconds(&self, policy: &RolloutPolicy, requests_per_second: f64) -> f64 {
        let hold = Duration::from_secs(Seconds::get(self.hold)).as_secs_f64();
        let share = f64::from(self.weight.basis_points()) / 10_000.0;
        if self.gate == Gate::Manual || share <= 0.0 {
            return hold;
        }
        let needed = crate::stats::as_f64(self.min_responses.unwrap_or(policy.min_responses));
        hold.max(needed / (share * requests_per_second))
    }
}
