//! What to do about the findings of an examination.

use super::check::widen;
use super::command::{ShellCommand, shown};
use super::status::{NO_SUCH_COOKIE, without_report};
use super::{Hint, missing_rights};
use canary_release::doctor::ClusterFinding;

impl Hint for ClusterFinding {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::CheckFails(failed) => return failed.hint(),
            Self::NoService { .. } => "name the application's Service in `service.name`, or create it first".to_owned(),
            Self::Unlabelled { label, .. } => {
                format!("give the pods of each Deployment a label `{}` with their version, or name it in `versions.label`", shown(label))
            }
            Self::NarrowSelector(narrow) => widen(narrow),
            Self::UnverifiedTokens { .. } => {
                "apply a RequestAuthentication with `jwtRules` there; an EnvoyFilter with `jwt_authn` does the same, and is not seen".to_owned()
            }
            Self::MissingTarget { .. } => {
                "give a container of its pods that port with this name, or take the port out of the Service".to_owned()
            }
            Self::UnroutedCanary { .. } => "correct them by what `canary-ctl generate routes` prints".to_owned(),
            Self::CanaryNotStarted { .. } => {
                "start its pods after `canary-ctl apply`, and before `canary-ctl weight`".to_owned()
            }
            // Said with the user's name by the verb.
            Self::MissingRights { missing } => missing_rights("USER", missing),
            Self::RootNotSeen => "`canary-ctl generate rbac` prints the right".to_owned(),
            Self::Refused { .. } => {
                "the text is the cluster's own: a policy, a quota, the state of the namespace or the owner of a field".to_owned()
            }
            Self::Silent { proxy, fault } => without_report(&proxy.namespace, &proxy.pod, fault),
            Self::NoKeys { .. } => "`canary-ctl apply` restores them from the deployed configuration".to_owned(),
            Self::RemoteClusters { .. } => {
                "call the verb for the context of each cluster, `--context CONTEXT`; section \"Several clusters\" of docs/operations.md".to_owned()
            }
            Self::NotInstalled => "`canary-ctl apply` puts it there".to_owned(),
            Self::OldIstio { .. } => "upgrade Istio: README has what is supported and tested".to_owned(),
            Self::UnsupportedProxies { .. } => {
                "upgrade istiod first, then restart the pods of these proxies, so that they start with its version".to_owned()
            }
            Self::WithoutRecord { releases } => {
                let release = releases.first().map(ToString::to_string).unwrap_or_default();
                let command = ShellCommand::new("canary-ctl uninstall -r").name(&release, "NAMESPACE/NAME");
                format!("{command} takes it out of the proxies, `canary-ctl apply` of its file writes the record again")
            }
            Self::WrongCookie { .. } => NO_SUCH_COOKIE.to_owned(),
            Self::UnroutedCalls(calls) => return calls.hint(),
            Self::Bypass { gap, .. } => return gap.hint(),
            Self::EmbeddedAtScale(embedded) => return embedded.hint(),
            Self::MixedVersions { .. } => return None,
        })
    }
}
