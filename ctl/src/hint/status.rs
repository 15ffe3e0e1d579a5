//! What a person can do about each problem of a release, and about a proxy that lags.

use super::Hint;
use super::check::selects;
use super::command::{ShellCommand, shown};
use super::rights::right_to_add;
use assignment::contract::Role;
use canary_release::object::Reference;
use canary_release::plan::MissingCause;
use canary_release::record::Operation;
use canary_release::routing::Gap;
use canary_release::spec::Routes;
use canary_release::state::{ScaledDown, Undersized};
use canary_release::status::{EmbeddedAtScale, Problem, ProxyFault, ProxyStatus, TemplateDrift, WrongCookie};
use std::collections::BTreeMap;

impl Hint for Problem<'_> {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::ObjectChanged { by, .. } => restore(by),
            Self::LostSubset { lost } => restore(&lost.by),
            Self::NotRepairable { error } | Self::NotDeployed { error } => return error.hint(),
            Self::Bypass { gap, reached } => close(gap, reached),
            Self::ProxyBehind { proxy, .. } => return proxy.hint(),
            Self::ScaledDown(found) => return found.hint(),
            Self::WrongCookie(found) => names_cookie(found).to_owned(),
            Self::TemplateDrift { drift } => rendered_again(drift),
            Self::DefaultRoute(default) => selects(default),
            Self::CheckFails(failed) => return failed.hint(),
            Self::NotObserved { right } => right_to_add(right),
            Self::UnverifiedRecord { .. } => {
                "`canary-ctl generate rbac` prints the right to read the keys of records".to_owned()
            }
            Self::NotWritten { operation, .. } => {
                format!(
                    "an operation was interrupted: {} continues it",
                    ShellCommand::new("canary-ctl").words(continued_by(*operation))
                )
            }
            other => constant(other).to_owned(),
        })
    }
}

impl Hint for ProxyStatus {
    /// The likely cause, and where to look, if it does not run what it should.
    fn hint(&self) -> Option<String> {
        let Self { namespace, pod, active, fault, .. } = self;
        let logs = || {
            let command = ShellCommand::new("kubectl -n").name(namespace, "NAMESPACE").words("logs");
            command.name(pod, "POD").words("-c istio-proxy")
        };
        Some(match (fault, active) {
            (Some(fault), _) => without_report(namespace, pod, fault),
            (None, None) => format!(
                "the filter is not in pod `{}`, or could not be fetched: {} says why; if it says nothing, does this control plane honour \
                 EnvoyFilter?",
                shown(pod),
                logs()
            ),
            (None, Some(_)) => {
                format!("istiod may be away, or the proxy refused the configuration: {}", logs())
            }
        })
    }
}

impl Hint for ScaledDown {
    fn hint(&self) -> Option<String> {
        let Self { version, expected, .. } = self;
        Some(format!(
            "scale the Deployment of `{}` up to {expected} replicas or more, or set `minReplicas` of its autoscaler: until they are ready, \
             users who come back may overload it",
            shown(version)
        ))
    }
}

impl Hint for Undersized {
    fn hint(&self) -> Option<String> {
        let Self { version, expected, .. } = self;
        Some(format!(
            "scale the Deployment of `{}` up to {expected} replicas or more, or set `minReplicas` of its autoscaler: until they are ready, \
             its users may overload it",
            shown(version)
        ))
    }
}

impl Hint for EmbeddedAtScale {
    fn hint(&self) -> Option<String> {
        let text = "from a registry each proxy fetches it once: `canary-ctl module save --oci-layout DIR` writes the image for it, and \
                    `canary-ctl apply` changes to it; docs/operations.md has the steps, docs/arrival.md figures";
        Some(text.to_owned())
    }
}

/// The remedy for ambient pods that may call the Service.
pub const CALLS_OF_AMBIENT_PODS: &str = "let them call a gateway, or a Service that selects stable's label; or give them a sidecar: label their template \
     `istio.io/dataplane-mode: none` and `sidecar.istio.io/inject: \"true\"`";

/// The remedy for a workload whose requests no filter can decide.
pub(super) const NO_ENVOY: &str = "take it out of `sidecars` or `gateways`, since the gateways decide for users anyway; or give its pods a sidecar: \
     label their template `istio.io/dataplane-mode: none` and `sidecar.istio.io/inject: \"true\"`";

/// The remedy for a proxy that does not report what it runs.
pub(super) fn without_report(namespace: &str, pod: &str, fault: &ProxyFault) -> String {
    match fault {
        ProxyFault::Ambient | ProxyFault::Waypoint => NO_ENVOY.to_owned(),
        ProxyFault::Unread(_) => unreadable(namespace, pod),
    }
}

/// The remedy for a proxy whose metrics cannot be read.
pub(super) fn unreadable(namespace: &str, pod: &str) -> String {
    let forward = ShellCommand::new("kubectl -n").name(namespace, "NAMESPACE").words("port-forward");
    format!(
        "has pod `{}` an istio-proxy? does a NetworkPolicy or a firewall close its port 15090 to the API server, and 10250 of its node? \
         {} tries the second way, `canary-ctl generate rbac --port-forward` prints its rights, \
         and `--prometheus URL` asks a Prometheus that scrapes it",
        shown(pod),
        forward.name(pod, "POD").words("15090")
    )
}

/// The hints that name nothing of the problem.
const fn constant(problem: &Problem<'_>) -> &'static str {
    match problem {
        Problem::NoReadyPod { role: Role::Draining, .. } => {
            "its sessions are on stable; `canary-ctl promote --finish --skip-check moves-users` ends the drain"
        }
        Problem::NoReadyPod { role: Role::Stable, .. } => {
            "start its pods: `helm rollback` brings back what Helm has deleted; while the version before drains, `canary-ctl rollback` gives users that one"
        }
        Problem::NoReadyPod { .. } => {
            "start its pods; `canary-ctl weight 0` assigns no new users to a canary"
        }
        Problem::RefusedRecord { .. } => {
            "`canary-ctl recover` writes what the objects say; history, pause and rollout are lost. `rollback`, `weight 0` and `uninstall` act without it"
        }
        Problem::NoRecord => "`canary-ctl apply` writes it again; every other operation does so too",
        Problem::NoFilter { .. } => "`canary-ctl apply` writes it again",
        Problem::Missing { object } => writes(object.cause),
        Problem::NoProxies => {
            "do the selectors of `gateways` and `sidecars` fit pods that are ready? `canary-ctl doctor` compares them with the Gateways"
        }
        Problem::OutdatedRoutes { .. } => "`canary-ctl apply` copies them again",
        Problem::LostRoutes { .. } => "`canary-ctl apply` injects them again",
        Problem::NoRoutes { routes: Routes::External, .. } => {
            "add the routes that `canary-ctl generate routes` prints"
        }
        Problem::NoRoutes { .. } => "`canary-ctl apply` writes them again",
        Problem::ModuleRollout { .. } => {
            "`canary-ctl apply` continues the rollout; `weight` and `rollback` revert it"
        }
        Problem::NoWasmRuntime { .. } => "`canary-ctl prepare` restarts its pods, so that they start with V8",
        Problem::LostCookies(_) => {
            "browsers drop `Secure` cookies that come by plain HTTP: where no one in front of the gateway speaks TLS, set \
             `cookies: {tls: false}` and `canary-ctl apply`; else look for what removes `Set-Cookie` or `Cookie` headers"
        }
        Problem::FuseOpen(_) => {
            "look at the logs of its pods; `canary-ctl weight 0` assigns no new users to it, `canary-ctl rollback` sends all to stable"
        }
        Problem::ShareDeviates { .. } => {
            "the weight may have changed meanwhile; else `canary-ctl verify URL` checks what users get"
        }
        Problem::WeightExpired { .. } => "set it again with `canary-ctl weight`, or leave it at 0",
        Problem::DrainOverdue { .. } => {
            "`canary-ctl promote --finish` deletes its routes and its subset; so does `apply`"
        }
        Problem::NotPruned { .. } => {
            "once every proxy ignores the version, `canary-ctl rollback` again deletes them after a rollback, and `canary-ctl promote --finish` after a promotion"
        }
        _ => "",
    }
}

/// The way to close a bypass of our routes, and the pods to stop until then.
fn close(gap: &Gap, reached: &BTreeMap<String, usize>) -> String {
    let closed = gap.hint().unwrap_or_default();
    if reached.is_empty() {
        return closed;
    }
    let versions: Vec<String> = reached.keys().map(|version| format!("`{}`", shown(version))).collect();
    format!("{closed}; until then, scale the Deployment of {} to 0 replicas", versions.join(" and "))
}

/// The way to give a Deployment the pods of its version again.
fn rendered_again(drift: &TemplateDrift) -> String {
    let Reference { namespace, .. } = &drift.deployment;
    let rollback = drift.helm_release.as_ref().map(|release| {
        ShellCommand::new("helm rollback").name(release, "RELEASE").words("-n").name(namespace, "NAMESPACE")
    });
    match rollback {
        Some(rollback) if drift.is_adopted => format!(
            "if `helm upgrade` was not meant to replace these pods, {rollback} brings those before back; if it was, \
             `helm upgrade` of the same with `--post-renderer` and its arguments `--deployed` and `--alone` makes them `{}` (docs/helm.md)",
            shown(&drift.version)
        ),
        Some(rollback) => format!(
            "if `helm upgrade` has run without the post-renderer, {rollback} brings back what it has replaced and \
             deleted; then upgrade with `--post-renderer` (docs/helm.md)"
        ),
        None => "deploy what `canary-ctl twin render` prints (docs/helm.md)".to_owned(),
    }
}

/// The hint about a session cookie that no session has.
pub(super) const NO_SUCH_COOKIE: &str = "`curl -i` of a page that begins a session shows which cookie the application sets: name it in `session.cookie` and \
             `canary-ctl apply`; leave `session.cookie` out if there is none, so that the filter's id is pinned";

/// The way to let `session.cookie` name the application's sessions.
const fn names_cookie(found: &WrongCookie<'_>) -> &'static str {
    match found {
        WrongCookie::NeverSet { .. } => NO_SUCH_COOKIE,
        WrongCookie::SetForAll { .. } => {
            "if a single sign-on, a CDN or a load balancer sets it, name the application's own in `session.cookie`, or set \
             `session.adopt: false`; if the application's sessions live for days, it ends with `session.adoptFor`"
        }
    }
}

/// The command that writes an object that does not exist.
pub(super) const fn writes(cause: MissingCause) -> &'static str {
    match cause {
        MissingCause::Deleted => "`canary-ctl apply` writes it again",
        MissingCause::NotWritten => "`canary-ctl apply` continues the operation",
        MissingCause::Unknown => "`canary-ctl apply` writes it",
    }
}

/// The way to revert a change of other field managers.
fn restore(by: &[String]) -> String {
    match by {
        [] => "`canary-ctl apply` restores it".to_owned(),
        by => format!(
            "`canary-ctl diff` shows what {} has changed, `apply --force-conflicts` reverts it",
            shown(&by.join(", "))
        ),
    }
}

/// The operation that carries out a record. A file that is older than a promotion or a rollback cannot.
fn continued_by(operation: Option<&Operation>) -> &'static str {
    match operation {
        Some(Operation::Promote) => "promote",
        Some(Operation::Rollback) => "rollback",
        Some(Operation::Finish) => "promote --finish",
        _ => "apply",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_operation_is_continued_by_itself() {
        for (operation, verb) in [
            (None, "canary-ctl apply"),
            (Some(Operation::Weight), "canary-ctl apply"),
            (Some(Operation::Promote), "canary-ctl promote"),
            (Some(Operation::Rollback), "canary-ctl rollback"),
            (Some(Operation::Finish), "canary-ctl promote --finish"),
        ] {
            let object = "EnvoyFilter shop/canary";
            let problem = Problem::NotWritten { object, generation: 3, operation: operation.as_ref() };
            let expected = format!("an operation was interrupted: `{verb}` continues it");
            assert_eq!(problem.hint(), Some(expected));
        }
    }
}
