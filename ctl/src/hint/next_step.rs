//! The commands of what comes next.

use super::Hint;
use super::check::widen;
use super::command::{ShellCommand, shown};
use canary_release::status::NextStep;

impl Hint for NextStep {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::AddCanary => {
                "name the next version as `versions.canary` in canary.yaml, then `canary-ctl apply --wait`"
                    .to_owned()
            }
            Self::DeployCanary { version } => {
                format!(
                    "start the pods of `{}`; those of a Helm chart with `canary-ctl twin`, a StatefulSet by a Helm release of its own (docs/helm.md)",
                    shown(version)
                )
            }
            Self::WidenSelector(narrow) => format!("{narrow}; {}", widen(narrow)),
            Self::WaitForCanary { version } => {
                format!(
                    "`canary-ctl twin wait` until a pod of `{}` is ready; it says what keeps them from it",
                    shown(version)
                )
            }
            Self::TestCanary { version } => format!(
                "{} for testers; then `canary-ctl rollout start`, or `canary-ctl weight 5 --wait`",
                ShellCommand::new("canary-ctl token create --version").name(version, "VERSION")
            ),
            Self::RaiseWeight { version } => format!(
                "`canary-ctl weight +10 --wait`, or `canary-ctl promote`; `canary-ctl rollback` takes `{}` away from its users",
                shown(version)
            ),
            Self::Promote { version } => format!("`canary-ctl promote` makes `{}` stable", shown(version)),
            Self::FollowRollout => "`canary-ctl rollout status` says what the rollout waits for".to_owned(),
            Self::FinishRollback { version } => format!(
                "the sessions of `{0}` finish there; `canary-ctl rollback --now` ends them, and `canary-ctl promote --finish` removes `{0}` when there are none",
                shown(version)
            ),
            Self::FinishPromotion { version } => {
                format!(
                    "`canary-ctl promote --finish` when the sessions of `{}` have ended; `canary-ctl rollback` is possible until then",
                    shown(version)
                )
            }
        })
    }
}
