//! Preflight checks: what is refused before the first write. Each has a name, and is skipped by it.

use super::Alternative;
use crate::record::Record;
use crate::spec::Service;
use assignment::Weight;
use assignment::contract::{Fallback, MintPolicy, ReleaseConfig, Stickiness};
use std::fmt;

/// A check that an operator can skip by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreflightCheck {
    /// No ready pod of a version to which users would be sent.
    NoReadyPods,
    /// No route leads to the canary by the filter's header.
    NoRoutes,
    /// The Service does not have the port to which our routes would lead.
    NoServicePort,
    /// A Gateway that the release names does not exist.
    NoGateway,
    /// The selector of a gateway fits no pod.
    NoProxies,
    /// The selector of a gateway fits other pods than the Gateway's own one.
    SelectorMismatch,
    /// No server of the Gateways serves a host.
    HostNotServed,
    /// Routes of others for a host would no longer be used.
    HostTaken,
    /// A server of the Gateways passes the connections of a host on.
    NoHttpServer,
    /// The Gateways serve a host by plain HTTP, and the cookies are `Secure`.
    NoTls,
    /// The address of the module is a placeholder.
    PlaceholderModule,
    /// Callers go by a `DestinationRule` without our subsets.
    HiddenSubsets,
    /// No route applies to calls about which sidecars or gateways decide.
    UnroutedCalls,
    /// Ready canary pods are reached by traffic that bypasses our routes.
    RoutesBypassed,
    /// An object of the filter does not exist: clients can name a version.
    NoFilter,
    /// Another operator has paused the release.
    Paused,
    /// The weight rises by more than `maxStep`.
    MaxStep,
    /// Requests carry nothing that identifies a user.
    NoUserKey,
    /// Live sessions would move to another version.
    MovesUsers,
    /// Running proxies without V8 may crash on their first Wasm filter.
    NoWasmRuntime,
    /// A proxy cannot be asked what it runs, and the order of writes depends on that.
    UnseenProxies,
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckFailed {
    /// Which check.
    pub check: PreflightCheck,
    /// The expected and the found value.
    pub message: String,
    /// The way to pass it instead of skipping it.
    pub alternative: Alternative,
}

impl PreflightCheck {
    /// Every check, in the order of help and docs.
    pub const ALL: [Self; 21] = [
        Self::NoReadyPods,
        Self::NoRoutes,
        Self::NoServicePort,
        Self::NoGateway,
        Self::NoProxies,
        Self::SelectorMismatch,
        Self::HostNotServed,
        Self::HostTaken,
        Self::NoHttpServer,
        Self::NoTls,
        Self::PlaceholderModule,
        Self::HiddenSubsets,
        Self::UnroutedCalls,
        Self::RoutesBypassed,
        Self::NoFilter,
        Self::Paused,
        Self::MaxStep,
        Self::NoUserKey,
        Self::MovesUsers,
        Self::NoWasmRuntime,
        Self::UnseenProxies,
    ];

    /// The name by which it is skipped.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoReadyPods => "no-ready-pods",
            Self::NoRoutes => "no-routes",
            Self::NoServicePort => "no-service-port",
            Self::NoGateway => "no-gateway",
            Self::NoProxies => "no-proxies",
            Self::SelectorMismatch => "selector-mismatch",
            Self::HostNotServed => "host-not-served",
            Self::HostTaken => "host-taken",
            Self::NoHttpServer => "no-http-server",
            Self::NoTls => "no-tls",
            Self::PlaceholderModule => "placeholder-module",
            Self::HiddenSubsets => "hidden-subsets",
            Self::UnroutedCalls => "unrouted-calls",
            Self::RoutesBypassed => "routes-bypassed",
            Self::NoFilter => "no-filter",
            Self::Paused => "paused",
            Self::MaxStep => "max-step",
            Self::NoUserKey => "no-user-key",
            Self::MovesUsers => "moves-users",
            Self::NoWasmRuntime => "no-wasm-runtime",
            Self::UnseenProxies => "unseen-proxies",
        }
    }

    /// The meaning of its failure, in one line.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::NoReadyPods => "Users would be sent to a version without a ready pod",
            Self::NoRoutes => "No route leads to the canary by the filter's header",
            Self::NoServicePort => "Routes would lead to a port that the Service does not have",
            Self::NoFilter => "An object of the filter does not exist, so that no proxy decides",
            Self::NoGateway => "A Gateway that the release names does not exist",
            Self::NoProxies => "The selector of a gateway fits no pod, so no proxy would have the filter",
            Self::SelectorMismatch => "The selector of a gateway fits other pods than those of the Gateway",
            Self::HostNotServed => "No server of the Gateways serves a host of the release",
            Self::HostTaken => "Routes of others for a host of the release would no longer be used",
            Self::NoHttpServer => "A server of the Gateways passes TLS or TCP on: no filter decides",
            Self::NoTls => "A host is served by plain HTTP, and browsers would drop `Secure` cookies",
            Self::PlaceholderModule => "The address of the module is a placeholder",
            Self::HiddenSubsets => "Callers go by a DestinationRule without our subsets, and would fail",
            Self::UnroutedCalls => "No route applies to calls about which proxies of the release decide",
            Self::RoutesBypassed => "Ready canary pods are reached by a way that no route of ours covers",
            Self::Paused => "Another user has paused the release",
            Self::MaxStep => "The weight rises by more than `maxStep`",
            Self::NoUserKey => "Requests carry no user key, so no user can stay on a version",
            Self::MovesUsers => "Users who are on a version at this moment would be moved off it",
            Self::NoWasmRuntime => "Running proxies without V8 may die of their first Wasm filter",
            Self::UnseenProxies => "A proxy's metrics cannot be read; if skipped, wait 30 s for it instead",
        }
    }

    /// The failure of this check.
    ///
    /// # Errors
    ///
    /// Unless it is among `skipped`.
    pub fn refuse(
        self,
        skipped: &[Self],
        message: impl Into<String>,
        alternative: Alternative,
    ) -> Result<(), CheckFailed> {
        if skipped.contains(&self) {
            return Ok(());
        }
        Err(CheckFailed { check: self, message: message.into(), alternative })
    }
}

impl fmt::Display for PreflightCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Refuses a raise beyond the release's `maxStep`. Taking users off a canary is never refused.
///
/// # Errors
///
/// If the step is larger, and the check is not among `skipped`.
pub fn check_step(
    max: Weight,
    from: Weight,
    to: Weight,
    skipped: &[PreflightCheck],
) -> Result<(), CheckFailed> {
    let step = to.basis_points().saturating_sub(from.basis_points());
    if step <= max.basis_points() {
        return Ok(());
    }
    let message = format!("expected a step of at most {max}, found {from} to {to}");
    PreflightCheck::MaxStep.refuse(skipped, message, Alternative::SmallerSteps { max })
}

/// Refuses routes to a port that a Service does not have: every request would get 503.
///
/// # Errors
///
/// If the port is none of `found`, and the check is not among `skipped`.
pub fn check_service_port(
    service: &Service,
    found: &[u16],
    skipped: &[PreflightCheck],
) -> Result<(), CheckFailed> {
    if found.contains(&service.port) {
        return Ok(());
    }
    let ports: Vec<String> = found.iter().map(u16::to_string).collect();
    let message = format!(
        "expected port {} of Service `{}`, found {}",
        service.port,
        service.name,
        if ports.is_empty() { "none".to_owned() } else { ports.join(", ") }
    );
    PreflightCheck::NoServicePort.refuse(
        skipped,
        message,
        Alternative::NameServicePort { ports: found.to_vec() },
    )
}

/// Refuses a release in which no user can stay on a version, whatever its weight.
///
/// # Errors
///
/// If no user can, and the check is not among `skipped`.
pub fn check_stickiness(config: &ReleaseConfig, skipped: &[PreflightCheck]) -> Result<(), CheckFailed> {
    let Some((message, alternative)) = unsticky(config) else { return Ok(()) };
    PreflightCheck::NoUserKey.refuse(skipped, message, alternative)
}

/// Refuses an operation on a paused release unless it is the pauser's.
///
/// # Errors
///
/// If another user has paused it, and the check is not among `skipped`.
pub fn check_pause(record: &Record, user: &str, skipped: &[PreflightCheck]) -> Result<(), CheckFailed> {
    let Some(pause) = record.paused.as_ref().filter(|pause| pause.by != user) else { return Ok(()) };
    let alternative = Alternative::AskPauser { by: pause.by.clone() };
    PreflightCheck::Paused.refuse(skipped, format!("the release is paused by {pause}"), alternative)
}

fn unsticky(config: &ReleaseConfig) -> Option<(&'static str, Alternative)> {
    if config.mint != MintPolicy::Never {
        return None;
    }
    if config.identify_by.is_empty() && config.fallback != Fallback::ClientAddress {
        return Some((
            "expected a key of users, found none, and no id is minted: everyone is on stable",
            Alternative::AddUserKey,
        ));
    }
    (config.stickiness == Stickiness::Session && config.session_cookie.is_none()).then_some((
        "expected a session cookie to pin with, found none, and no id is minted: no session can stick",
        Alternative::NameSessionCookie,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_the_service_does_not_have_is_refused() {
        let service = Service { name: "shop".parse().unwrap(), port: 81 };
        let refused = check_service_port(&service, &[80, 8443], &[]).unwrap_err();
        assert_eq!(refused.to_string(), "expected port 81 of Service `shop`, found 80, 8443");
        assert_eq!(refused.alternative, Alternative::NameServicePort { ports: vec![80, 8443] });
        assert_eq!(check_service_port(&service, &[80, 81], &[]), Ok(()));
        assert_eq!(check_service_port(&service, &[], &[PreflightCheck::NoServicePort]), Ok(()));
    }

    #[test]
    fn only_a_raise_beyond_the_largest_step_is_refused() {
        let weight = |percent: &str| percent.parse::<Weight>().unwrap();
        let judged = |from, to| check_step(weight("20"), weight(from), weight(to), &[]);
        assert_eq!(judged("10", "30"), Ok(()));
        assert_eq!(judged("100", "0"), Ok(()));
        let refused = judged("10", "30.01").unwrap_err();
        assert_eq!(refused.to_string(), "expected a step of at most 20%, found 10% to 30.01%");
        assert_eq!(refused.alternative, Alternative::SmallerSteps { max: weight("20") });
        assert_eq!(check_step(weight("20"), weight("0"), weight("21"), &[PreflightCheck::MaxStep]), Ok(()));
        let other = check_step(weight("20"), weight("0"), weight("21"), &[PreflightCheck::Paused]);
        assert_eq!(other.unwrap_err().check, PreflightCheck::MaxStep, "a name skips its own check alone");
    }
}
