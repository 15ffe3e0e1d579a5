//! What a person can do about an error of a cluster.

use super::{Error, Proxy};

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Late { behind, .. } => behind.iter().find_map(Proxy::likely_cause),
            Self::Protected { hint, .. } => Some(hint.clone()),
            Self::Preflight(refusal) => Some(refusal.hint()),
            Self::Plan(error) => error.hint(),
            Self::Manifest(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Forbidden { verb, resource, group, namespace } => Some(format!(
                "add to a Role in `{namespace}`: {{apiGroups: [\"{group}\"], resources: [\"{resource}\"], verbs: [\"{verb}\"]}}"
            )),
            _ => self.access_hint().or_else(|| self.proxy_hint()).map(str::to_owned),
        }
    }

    /// About the API server, and others who write to it.
    const fn access_hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Kubeconfig { .. } => "name one by `--kubeconfig` or KUBECONFIG",
            Self::Unauthorized { .. } => {
                "the credentials in the kubeconfig have expired or are wrong: log in again"
            }
            Self::Conflict { .. } => "let the owner give the field up, or take it with `--force-conflicts`",
            Self::Stale { .. } => "try again",
            Self::ConcurrentChange { .. } | Self::Generation { .. } | Self::LostLease { .. } => {
                "look at `canary-ctl status`, and try again if it is still right"
            }
            Self::Held { .. } => "wait until it has ended; a process that is gone is not waited for",
            Self::LostKeys { .. } | Self::Unknown { .. } => "`canary-ctl apply` puts it there",
            Self::KeysDiffer { .. } => {
                "`canary-ctl rotate-keys` continues a rotation that was interrupted; else decide for one of them, and copy it"
            }
            Self::Stopped { .. } => "the next call continues",
            Self::Unanswered { .. } | Self::Unable { .. } => {
                "`canary-ctl status` says what was done; `canary-ctl apply` continues it"
            }
            _ => return None,
        })
    }

    /// About proxies and their pods.
    const fn proxy_hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoClusters { .. } => {
                "istiod may be away, or sends gateways only the clusters that routes name (PILOT_FILTER_GATEWAY_CLUSTER_CONFIG): \
                 `canary-ctl apply` again goes on to the routes"
            }
            Self::NoModule { .. } => {
                "are its address and its sum right, can the proxies reach it, and is istiod there? their logs say what they got"
            }
            Self::NoDeployment { .. } => {
                "stop its pods, `canary-ctl apply --skip-check no-wasm-runtime`, and start them: what starts later starts with V8"
            }
            Self::NotRolledOut { .. } => {
                "the pods of before go on: look at the new ones, then `canary-ctl prepare` again goes on; `prepare --undo` goes back"
            }
            Self::NotPrepared { .. } => {
                "old pods may still be terminating: `canary-ctl prepare` again goes on; a gateway without an HTTP listener shows V8 with its first one"
            }
            _ => return None,
        })
    }
}
