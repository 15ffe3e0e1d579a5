//! Why an operation on a cluster failed.

use super::Hint;
use super::check::selects;
use super::command::{ShellCommand, shown};
use super::rights::right_to_add;
use canary_operations::{CredentialError, Error, KubeconfigError, Obstacle, Protected, ReadinessError};
use canary_release::rbac::Right;

/// The most releases that a hint names.
const MAX_KNOWN: usize = 8;

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Late { behind, .. } => behind.first().and_then(Hint::hint),
            Self::Protected(protected) => protected.hint(),
            Self::Preflight(refusal) => refusal.hint(),
            Self::Plan(error) => error.hint(),
            Self::Label(refusal) => refusal.hint(),
            Self::Rollout(error) => error.hint(),
            Self::Train(error) => error.hint(),
            Self::InTrain { source, .. } => source.hint(),
            Self::Readiness(error) => error.hint(),
            Self::Manifest(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Untrusted { release, .. } => {
                let command =
                    ShellCommand::new("canary-ctl recover -r").name(&release.to_string(), "NAMESPACE/NAME");
                Some(format!(
                    "{command} writes what the objects on the cluster say in its place; `canary-ctl rollback`, `weight 0` and `uninstall` act without it (with `-f` and the file of the release, if you may not list the objects)"
                ))
            }
            Self::Recover(_) => Some(
                "give the file of the release by `-f`: the namespaces that it names count, and no others".to_owned(),
            ),
            Self::RecordAhead { .. } => Some(
                "`canary-ctl apply` carries it out; `canary-ctl weight` with the weight before, or `rollback`, takes it back"
                    .to_owned(),
            ),
            Self::Unable { verb: "authenticate", .. } => Some(
                "is it the right cluster (`--context` names another), and does `kubectl version` reach it from here?".to_owned(),
            ),
            Self::Forbidden { verb, resource, group, namespace } => {
                let right =
                    Right { namespace: namespace.clone(), group: group.clone(), resource: resource.clone(), name: None, verb };
                Some(right_to_add(&right))
            }
            Self::Missing { object } => {
                let kind = object.kind.to_ascii_lowercase();
                let command = ShellCommand::new("kubectl get").name(&kind, "KIND").words("-n");
                Some(format!("{} lists them", command.name(&object.namespace, "NAMESPACE")))
            }
            Self::Unknown { known, .. } => Some(unknown(known)),
            Self::Kubeconfig { source, .. } => source.hint(),
            Self::NoCredentials(error) => error.hint(),
            Self::Unreachable { .. } | Self::Unanswered { .. } if self.obstacle().is_some() => {
                self.obstacle().map(|obstacle| of_obstacle(obstacle).to_owned())
            }
            other => of_access(other).or_else(|| of_proxies(other)).map(str::to_owned),
        }
    }
}

impl Hint for KubeconfigError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read(_) | Self::NoHome | Self::Invalid(_) => "name one by `--kubeconfig` or KUBECONFIG",
            Self::NoContext { .. } => "name one of its contexts by `--context`",
            Self::NoCluster { .. } | Self::Server { .. } | Self::Authority { .. } | Self::Client(_) => {
                "`kubectl config view` shows the kubeconfig as it is read"
            }
            Self::Proxy { .. } => "`proxy-url` of the kubeconfig goes before HTTPS_PROXY and NO_PROXY",
        };
        Some(hint.to_owned())
    }
}

impl Hint for CredentialError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotInstalled { install_hint: Some(hint), .. } => {
                format!("the kubeconfig says: {}", shown(hint))
            }
            Self::NotInstalled { command, .. } => {
                format!("install `{}`, or put its folder on the PATH", shown(command))
            }
            Self::Plugin { .. } => {
                "the tool that wrote this part of the kubeconfig writes it again in its present form"
                    .to_owned()
            }
            Self::Failed { .. } | Self::NotStarted { .. } | Self::Answer { .. } => {
                "log in again; `kubectl get namespaces` runs the same plugin".to_owned()
            }
            Self::Token { .. } | Self::TokenFile { .. } => return None,
        })
    }
}

impl Hint for ReadinessError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Failed { .. } => {
                "correct the version and deploy it again; `canary-ctl weight 0` keeps new users away from it meanwhile"
            }
            Self::Late { .. } => {
                "`kubectl describe` of such a pod says more; a longer `--timeout` waits longer"
            }
        };
        Some(hint.to_owned())
    }
}

impl Hint for Protected {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::RoutedVersion { version, .. } => format!(
                "take the subset of `{}` out of its routes; the next call takes the subset away",
                shown(version)
            ),
            Self::DefaultRoute(default) => selects(default),
            Self::RoutedSubset { .. } => {
                "all users are on stable; let its routes lead to the Service without subsets, and call again"
                    .to_owned()
            }
            Self::SharedKeys { other, .. } => {
                format!("rotate with the file of `{other}`, if it has all gateways of this one")
            }
        })
    }
}

/// A release that is not there: under another name, or on another cluster.
fn unknown(known: &[String]) -> String {
    let elsewhere = "`--context` names another cluster";
    match known {
        [] => format!("no release can be seen there; {elsewhere}"),
        known if known.len() > MAX_KNOWN => format!("`canary-ctl list` says which there are; {elsewhere}"),
        known => format!("there are: {}; {elsewhere}", shown(&known.join(", "))),
    }
}

/// Hints for errors of the API server and conflicts with other writers.
const fn of_access(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Unauthorized { .. } => {
            "the credentials in the kubeconfig have expired or are wrong: log in again"
        }
        Error::Conflict { .. } => {
            "let the owner give the field up, or take it with `canary-ctl apply --force-conflicts`"
        }
        Error::Stale { .. } => "try again",
        Error::Deleted { .. } => "it was deleted meanwhile: try again",
        Error::ConcurrentChange { .. } | Error::Generation { .. } | Error::LostLease { .. } => {
            "look at `canary-ctl status`, and try again if it is still right"
        }
        Error::Held { .. } => "wait for it to finish; the Lease of a dead process expires after 15 s",
        Error::LostKeys { .. } => "`canary-ctl apply` puts it there",
        Error::NoService { .. } => "name the application's Service in `service.name`, or create it first",
        Error::Refused { code: 400 | 403, .. } => {
            "the text is the cluster's own: a policy, a quota or the state of the namespace; no Role changes it, its owner can"
        }
        Error::Unreachable { .. } => {
            "is it the right cluster (`--context` names another), and does `kubectl version` reach it from here?"
        }
        Error::NotApplied => "`canary-ctl apply` brings them there",
        Error::KeysDiffer { .. } => {
            "`canary-ctl rotate-keys` continues a rotation that was interrupted; if there was none, copy one of the two Secrets over the other"
        }
        Error::Unanswered { .. } | Error::Unable { .. } => {
            "`canary-ctl status` says what was done; the same command again continues it"
        }
        _ => return None,
    })
}

/// On the way to the API server.
const fn of_obstacle(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Proxy => {
            "is the proxy there, does it allow this address, and does it know the user? NO_PROXY with the host of the API server goes past a \
             proxy of the environment, not past `proxy-url`"
        }
        Obstacle::Certificate => {
            "`certificate-authority-data` of the kubeconfig has to be that of this API server, and the host one that its certificate names \
             (else `tls-server-name`)"
        }
        Obstacle::Scheme => {
            "is `server` of the kubeconfig https:// where the API server speaks TLS, and http:// where it does not?"
        }
        Obstacle::Credentials => "log in again; `kubectl get namespaces` runs the same plugin",
    }
}

/// About proxies and their pods.
const fn of_proxies(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::NoClusters { .. } => {
            "istiod may be away, or sends gateways only the clusters that routes name (PILOT_FILTER_GATEWAY_CLUSTER_CONFIG): \
             `canary-ctl apply` again goes on to the routes"
        }
        Error::NoModule { .. } => {
            "are its address and its sum right, can the proxies reach it, and is istiod there? their logs say what they got"
        }
        Error::NoDeployment { .. } => {
            "stop its pods, `canary-ctl apply --skip-check no-wasm-runtime`, and start them: what starts later starts with V8"
        }
        Error::NotRolledOut { .. } => {
            "the pods of before go on: look at the new ones, then `canary-ctl prepare` again goes on; `prepare --undo` goes back"
        }
        Error::NotObserved { .. } | Error::StaysPaused { .. } => {
            "`canary-ctl twin adopt` again continues, and with `--undo` goes back; both resume the Deployment"
        }
        Error::NotPrepared { .. } => {
            "old pods may still be terminating: `canary-ctl prepare` again goes on; a gateway without an HTTP listener shows V8 with its first one"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_right_names_the_line_to_add() {
        let error = Error::Forbidden {
            verb: "patch",
            resource: "virtualservices".to_owned(),
            group: "networking.istio.io".to_owned(),
            namespace: "shop".to_owned(),
        };
        assert_eq!(
            error.hint().unwrap(),
            "add to a Role in `shop`: {apiGroups: [\"networking.istio.io\"], resources: [\"virtualservices\"], verbs: [\"patch\"]}; \
             `canary-ctl generate rbac` prints all rights"
        );
    }

    #[test]
    fn a_release_that_is_not_there_has_a_hint_with_those_that_are() {
        let hint = |known: &[&str]| {
            let known = known.iter().map(|name| (*name).to_owned()).collect();
            let server = "https://a".to_owned();
            Error::Unknown { release: "ledgr/ledger".to_owned(), server, known }.hint().unwrap()
        };
        assert_eq!(hint(&[]), "no release can be seen there; `--context` names another cluster");
        assert_eq!(
            hint(&["ledger/ledger", "shop/shop"]),
            "there are: ledger/ledger, shop/shop; `--context` names another cluster"
        );
        assert_eq!(
            hint(&["a/a"; 9]),
            "`canary-ctl list` says which there are; `--context` names another cluster"
        );
    }

    #[test]
    fn what_is_protected_has_the_hint_for_its_owner() {
        let routed = Protected::RoutedVersion { version: "v1".to_owned(), route_object: "theirs".to_owned() };
        let error = Error::from(routed);
        assert_eq!(error.to_string(), "version `v1` is gone, and VirtualService `theirs` leads to it");
        let expected = "take the subset of `v1` out of its routes; the next call takes the subset away";
        assert_eq!(error.hint().as_deref(), Some(expected));
    }
}
