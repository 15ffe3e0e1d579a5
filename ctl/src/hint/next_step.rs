//! The commands of what comes next.

use super::Hint;
use canary_release::status::NextStep;

impl Hint for NextStep {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::AddCanary => {
                "name the next version as `versions.canary` in canary.yaml, then `canary-ctl apply --wait`"
                    .to_owned()
            }
            Self::DeployCanary { version } => {
                format!("start the pods of `{version}`; those of a Helm chart with `canary-ctl twin`")
            }
            Self::WaitForCanary { version } => {
                format!(
                    "`canary-ctl twin wait` until a pod of `{version}` is ready; it says what keeps them from it"
                )
            }
            Self::TestCanary { version } => format!(
                "`canary-ctl token create --version {version}` for testers; then `canary-ctl rollout start`, or `canary-ctl weight 5 --wait`"
            ),
            Self::RaiseWeight { version } => format!(
                "`canary-ctl weight +10 --wait`, or `canary-ctl promote`; `canary-ctl rollback` takes `{version}` away from its users"
            ),
            Self::Promote { version } => format!("`canary-ctl promote` makes `{version}` stable"),
            Self::FollowRollout => "`canary-ctl rollout status` says what the rollout waits for".to_owned(),
            Self::FinishPromotion { version } => {
                format!(
                    "`canary-ctl promote --finish` when the sessions of `{version}` have ended; `canary-ctl rollback` is possible until then"
                )
            }
        })
    }
}
