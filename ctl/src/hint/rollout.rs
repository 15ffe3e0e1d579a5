//! What a rollout was asked and cannot do.

use super::Hint;
use canary_release::rollout::VerbError;

impl Hint for VerbError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotActive { .. } => {
                "`canary-ctl rollback` or `canary-ctl weight 0` takes users off the canary; `canary-ctl rollout start` starts a rollout"
            }
            Self::AlreadyActive { .. } => "`canary-ctl rollout run` drives it; `rollout abort` ends it",
            Self::NoCanary => "name a canary in `versions.canary`, and `canary-ctl apply`",
            Self::UnknownPlan { .. } => "give `--plan` the name of one in `rollout.plans`",
            Self::NoPercentile { .. } => {
                "wait until users have come since `latencyHistogram: true` was applied, or give `slowerThan` a time"
            }
            Self::PastDeadline { .. } => {
                "`canary-ctl rollout retry` gives it the whole time again, without the evidence so far; `rollout abort` ends it"
            }
            Self::NoGate { .. } => "only a step with `gate: manual` needs an approval",
            Self::Ending { .. } => {
                "`canary-ctl rollout run` carries it out; `rollout start` starts another one then"
            }
        };
        Some(hint.to_owned())
    }
}
