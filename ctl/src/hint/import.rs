//! About objects of peers of which no first `canary.yaml` can be made.

use super::{Hint, ShellCommand};
use canary_release::import::{Error, MoveAction, ObjectName};

/// The command of `kubectl` that does it.
pub(crate) fn move_command(action: &MoveAction) -> ShellCommand {
    let of = |words: &'static str, object: &ObjectName| {
        ShellCommand::new(words).name(&object.name, "NAME").words("-n").name(&object.namespace, "NAMESPACE")
    };
    match action {
        MoveAction::OrphanCanary(canary) => {
            of("kubectl delete canaries.flagger.app", canary).words("--cascade=orphan")
        }
        MoveAction::DeleteRulesOfVersions(ObjectName { namespace, name }) => {
            ShellCommand::new("kubectl delete destinationrules.networking.istio.io")
                .name(&format!("{name}-primary"), "NAME-primary")
                .name(&format!("{name}-canary"), "NAME-canary")
                .words("-n")
                .name(namespace, "NAMESPACE")
                .words("--ignore-not-found")
        }
        MoveAction::OrphanRollout(rollout) => {
            of("kubectl delete rollouts.argoproj.io", rollout).words("--cascade=orphan")
        }
        MoveAction::DeleteDeployment(deployment) => of("kubectl delete deployment", deployment),
        MoveAction::AdoptDeployment(deployment, label) => {
            of("canary-ctl twin adopt", deployment).words("--label").quoted(&label.join("="), "LABEL=VERSION")
        }
        MoveAction::ScaleDeployment(deployment, replicas) => of("kubectl scale deployment", deployment)
            .words("--replicas")
            .name(&replicas.to_string(), "COUNT"),
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { error, .. } => error.hint.map(str::to_owned),
            Self::None { .. } => Some("give the file with it; several files by the flag again".to_owned()),
            Self::Several { .. } => {
                Some("give `--name NAME`, and `--namespace` if there are several of that name".to_owned())
            }
            Self::Draft(_) => None,
        }
    }
}
