//! About running Deployments that do not get the version label, or do not lose it.

use super::Hint;
use super::command::{ShellCommand, shown};
use canary_release::plan::LabelRefusal;

impl Hint for LabelRefusal {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Paused { deployment, .. } => {
                format!("let its owner resume it, or {}", kubectl("kubectl rollout resume", deployment))
            }
            Self::Terminating { .. } => "deploy it again first".to_owned(),
            Self::NoReplicas { .. } => {
                "there is no pod that a restart would cost: the first deployment with a canary brings the label"
                    .to_owned()
            }
            Self::Incomplete { deployment, .. } => {
                format!("wait for {}, and call again", kubectl("kubectl rollout status", deployment))
            }
            Self::NoReplicaSet { .. } => "its controller may not have observed the last change: call again".to_owned(),
            Self::OtherPods { .. } => "wait until they have ended, and call again".to_owned(),
            Self::OtherValue { found, .. } => format!(
                "name `{}` as the stable version, or choose another label in `versions.label` of canary.yaml",
                shown(found)
            ),
            Self::Selector { .. } => {
                "choose another label in `versions.label` of canary.yaml: pods that a selector does not match are replaced".to_owned()
            }
            Self::SameTemplate { replica_set, .. } => {
                format!("delete the other one, which is the history of an earlier rollout: {}", kubectl("kubectl delete", replica_set))
            }
            Self::OtherLabel { label, found, .. } => format!(
                "call again with the label for which it was paused, {}, and not with `{}`",
                found.iter().map(|name| format!("`{}`", shown(name))).collect::<Vec<_>>().join(" or "),
                shown(label)
            ),
            Self::Foreign { .. } => {
                "a label that is deployed goes with the next deployment that lacks it, and that replaces the pods".to_owned()
            }
            Self::Object(_) => return None,
        })
    }
}

/// A `kubectl` command about an object that is called `Kind namespace/name`.
fn kubectl(verb: &'static str, object: &str) -> ShellCommand {
    let (kind, place) = object.split_once(' ').unwrap_or(("", object));
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let object = format!("{}/{name}", kind.to_ascii_lowercase());
    ShellCommand::new(verb).words("-n").name(namespace, "NAMESPACE").name(&object, "KIND/NAME")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_command_for_its_object() {
        let deployment = "Deployment shop/shop".to_owned();
        let refusal = LabelRefusal::Paused { deployment, owners: vec!["`kubectl-rollout`".to_owned()] };
        assert_eq!(
            refusal.to_string(),
            "expected Deployment shop/shop not paused, found `paused: true` by `kubectl-rollout`"
        );
        let expected = "let its owner resume it, or `kubectl rollout resume -n shop deployment/shop`";
        assert_eq!(refusal.hint().as_deref(), Some(expected));
    }
}
