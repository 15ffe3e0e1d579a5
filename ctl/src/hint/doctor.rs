//! What to do about the findings of an examination.

use super::{Hint, missing_rights};
use canary_release::doctor::ClusterFinding;

impl Hint for ClusterFinding {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::CheckFails(failed) => return failed.hint(),
            Self::NoService { .. } => "name the application's Service in `service.name`, or create it first".to_owned(),
            Self::Unlabelled { label, .. } => {
                format!("give the pods of each Deployment a label `{label}` with their version, or name it in `versions.label`")
            }
            Self::CanaryNotStarted { .. } => {
                "start its pods after `canary-ctl apply`, and before `canary-ctl weight`".to_owned()
            }
            // Said with the user's name by the verb.
            Self::MissingRights { missing } => missing_rights("USER", missing),
            Self::RootNotSeen => "`canary-ctl generate rbac` prints the right".to_owned(),
            Self::Refused { .. } => {
                "the text is the cluster's own: a policy, a quota, the state of the namespace or the owner of a field".to_owned()
            }
            Self::Silent { proxy, .. } => format!(
                "does a NetworkPolicy or a firewall keep the API server from port 15090 of pods in `{0}`? \
                 `kubectl get --raw /api/v1/namespaces/{0}/pods/{1}:15090/proxy/stats/prometheus` asks by the same way",
                proxy.namespace, proxy.pod
            ),
            Self::NoKeys { .. } => "`canary-ctl apply` restores them from the deployed configuration".to_owned(),
            Self::NotInstalled => "`canary-ctl apply` puts it there".to_owned(),
            Self::MixedVersions { .. } => return None,
        })
    }
}
