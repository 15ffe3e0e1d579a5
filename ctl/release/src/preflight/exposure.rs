//! How users reach a release: the Gateways that it names, the pods that serve them, the hosts and the protocol of their
//! servers.
//!
//! # Source
//! Istio, [Gateway](https://istio.io/latest/docs/reference/config/networking/gateway/): `selector`, `Server.hosts`,
//! `Port.protocol`; Gateway API, [Listener](https://gateway-api.sigs.k8s.io/reference/spec/#listener): `hostname`, `protocol`.

use super::host_taken::{connections_taken, host_taken};
use super::http_server::passes_on;
use super::{Alternative, CheckFailed, PreflightCheck};
use crate::routing::{NamespaceLabels, narrower};
use crate::spec::{Gateway, Module, Release, Routes};
use assignment::contract::{MintPolicy, Stickiness};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The labels of a pod.
pub type PodLabels = BTreeMap<String, String>;

/// The ways on which users reach a release, as they were read.
#[derive(Clone, Debug, Default)]
pub struct Exposure {
    /// One for each gateway of the release, in its order.
    pub gateways: Vec<GatewayObservation>,
    /// The writer of the routes; `None` if that is not decided.
    pub routes: Option<Routes>,
    /// The route objects that may be read, ours included.
    pub route_objects: Vec<Value>,
    /// The `HTTPRoute`s, and routes of the Gateway API for gRPC and TLS, that may be read.
    pub http_routes: Vec<Value>,
    /// The labels of the namespaces of these, where a listener selects by them.
    pub namespaces: NamespaceLabels,
    /// The Gateways of others for a host of the release.
    pub other_gateways: Vec<OtherGateway>,
}

/// A Gateway of others.
#[derive(Clone, Debug)]
pub struct OtherGateway {
    /// `namespace/name`.
    pub name: String,
    /// The object.
    pub object: Value,
    /// The namespace of its pods, if it is one of the Gateway API; one of Istio selects pods of every namespace.
    pub namespace: Option<String>,
    /// The labels of its pods.
    pub selector: PodLabels,
}

/// The observation of a gateway.
#[derive(Clone, Debug)]
pub struct GatewayObservation {
    /// The gateway, as the release names it.
    pub gateway: Gateway,
    /// The Gateway object; `None` if there is none.
    pub object: Option<Value>,
    /// Whether it is one of the Gateway API, to which no route object of Istio is bound.
    pub is_gateway_api: bool,
    /// The labels of the pods, in the namespace of its pods, that the release's selector or the Gateway's own one fits.
    pub pods: Vec<PodLabels>,
}

/// Everything that is wrong with the ways on which users reach a release.
pub fn exposure_failures(release: &Release, exposure: &Exposure) -> Vec<CheckFailed> {
    let mut failures: Vec<CheckFailed> = placeholder(release).into_iter().collect();
    for observed in &exposure.gateways {
        failures.extend(missing_gateway(observed));
        failures.extend(proxies(observed));
    }
    failures.extend(release.hosts.iter().filter_map(|host| unserved(release, exposure, host)));
    failures.extend(passed_on(release, exposure));
    failures.extend(connections_taken(release, exposure));
    failures.extend(plain_http(release, exposure));
    failures.extend(host_taken(release, exposure));
    failures
}

/// Refuses the first failure that is not skipped.
///
/// # Errors
///
/// If there is one.
pub fn check_exposure(
    release: &Release,
    exposure: &Exposure,
    skipped: &[PreflightCheck],
) -> Result<(), CheckFailed> {
    let refused = exposure_failures(release, exposure).into_iter();
    refused.into_iter().find(|failed| !skipped.contains(&failed.check)).map_or(Ok(()), Err)
}

/// Domains that nobody can own.
///
/// # Source
/// RFC 2606, sections 2 and 3; RFC 6761, section 6.4 (`invalid`).
const RESERVED: [&str; 5] = ["example.com", "example.net", "example.org", "example", "invalid"];

fn placeholder(release: &Release) -> Option<CheckFailed> {
    let Module::Url(url) = &release.delivery.module else { return None };
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', ':']).next()?.to_ascii_lowercase();
    let is_reserved = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
    RESERVED.into_iter().find(|domain| is_reserved(domain))?;
    failed(
        PreflightCheck::PlaceholderModule,
        format!("expected the address of the module in `delivery.module`, found the placeholder `{url}`"),
        Alternative::NameModule,
    )
}

fn missing_gateway(observed: &GatewayObservation) -> Option<CheckFailed> {
    let name = &observed.gateway.name;
    if observed.object.is_some() {
        return None;
    }
    let message = format!("expected Gateway `{name}`, found none: routes that name it have no effect");
    failed(PreflightCheck::NoGateway, message, Alternative::NameGateway)
}

fn proxies(observed: &GatewayObservation) -> Option<CheckFailed> {
    let pods = &observed.gateway.pods;
    let theirs = own_selector(observed);
    let is_ours = |labels: &&PodLabels| fits(&pods.labels, labels);
    let is_theirs = |labels: &&PodLabels| theirs.as_ref().is_none_or(|theirs| fits(theirs, labels));
    let (wanted, namespace) = (text(&pods.labels), &pods.namespace);
    let alternative = || Alternative::SelectProxies { labels: theirs.clone().unwrap_or_default() };
    let ours = observed.pods.iter().filter(is_ours).count();
    if ours == 0 {
        let mut message =
            format!("expected pods with labels {wanted} in namespace `{namespace}`, found none");
        if let Some(theirs) = theirs.as_ref().filter(|theirs| **theirs != pods.labels) {
            let _infallible =
                write!(message, "; Gateway `{}` selects {}", observed.gateway.name, text(theirs));
        }
        return failed(PreflightCheck::NoProxies, message, alternative());
    }
    let theirs_alone = observed.pods.iter().filter(|labels| is_theirs(labels) && !is_ours(labels)).count();
    let both = observed.pods.iter().filter(|labels| is_theirs(labels) && is_ours(labels)).count();
    if theirs_alone == 0 && both > 0 {
        return None;
    }
    let (gateway, selected) = (&observed.gateway.name, text(theirs.as_ref()?));
    let message = if both == 0 {
        format!(
            "expected pods of Gateway `{gateway}`, which selects {selected}, found {ours} others with labels {wanted}"
        )
    } else {
        format!(
            "expected labels {wanted} at all pods of Gateway `{gateway}`, found {theirs_alone} pods with {selected} without them"
        )
    };
    failed(PreflightCheck::SelectorMismatch, message, alternative())
}

fn unserved(release: &Release, exposure: &Exposure, host: &str) -> Option<CheckFailed> {
    let is_internal =
        release.service_host().aliases(release.name.namespace.as_str()).iter().any(|alias| alias == host);
    // What is not there is told by another check, and what a Gateway of the other API serves by its own routes.
    let is_known = |observed: &&GatewayObservation| observed.object.is_some() && !observed.is_gateway_api;
    let known: Vec<&GatewayObservation> = exposure.gateways.iter().filter(is_known).collect();
    if is_internal || known.is_empty() || known.len() < exposure.gateways.len() {
        return None;
    }
    let is_routed = release.routes == Some(Routes::External)
        && exposure.route_objects.iter().any(|body| has_host(body, host));
    if is_routed || known.iter().any(|observed| servers_of(release, observed, host).next().is_some()) {
        return None;
    }
    let names: Vec<String> = known.iter().map(|observed| format!("`{}`", observed.gateway.name)).collect();
    let message = format!("expected host `{host}` at a server of Gateway {}, found none", names.join(", "));
    failed(PreflightCheck::HostNotServed, message, Alternative::ServeHost { host: host.to_owned() })
}

/// A host whose connections a server passes on.
fn passed_on(release: &Release, exposure: &Exposure) -> Option<CheckFailed> {
    let hosts =
        exposure.gateways.iter().flat_map(|gateway| release.hosts.iter().map(move |host| (gateway, host)));
    let (gateway, host, server) = hosts.into_iter().find_map(|(observed, host)| {
        let serving = servers_of(release, observed, host).map(|server| {
            let (length, is_exact) = exactness(server, host);
            (server, length, is_exact)
        });
        passes_on(serving).map(|server| (&observed.gateway.name, host, server))
    })?;
    let message = format!(
        "expected a server of Gateway `{gateway}` that reads the requests for host `{host}`, found {server}: it passes connections on, and \
         no filter decides"
    );
    failed(PreflightCheck::NoHttpServer, message, Alternative::TerminateTls { host: host.clone() })
}

/// The exactness of a server's name for a host: the length of the most exact name that serves it, and whether that is the host itself.
fn exactness(server: &Value, host: &str) -> (usize, bool) {
    let hosts = server.get("hosts").and_then(Value::as_array).into_iter().flatten();
    let names = hosts.chain(server.get("hostname")).filter_map(Value::as_str);
    let names =
        names.map(|entry| entry.rsplit_once('/').map_or(entry, |(_, served)| served).to_ascii_lowercase());
    let serving = names.filter(|served| overlap(served, host)).map(|served| (served.len(), served == host));
    serving.max().unwrap_or_default()
}

fn plain_http(release: &Release, exposure: &Exposure) -> Option<CheckFailed> {
    let sets_cookies = release.stickiness == Stickiness::Session || release.mint != MintPolicy::Never;
    if !sets_cookies || !release.cookies.tls || release.cookies.is_tls_stated {
        return None;
    }
    exposure.gateways.iter().find_map(|observed| {
        let plain = release.hosts.iter().find(|host| {
            let protocols: Vec<String> = servers_of(release, observed, host).filter_map(protocol).collect();
            let is_plain = |protocol: &String| protocol.starts_with("HTTP") && protocol != "HTTPS" || protocol.starts_with("GRPC");
            let is_tls = |protocol: &String| matches!(protocol.as_str(), "HTTPS" | "TLS");
            protocols.iter().any(is_plain) && !protocols.iter().any(is_tls)
        })?;
        let message = format!(
            "expected a server with TLS for host `{plain}` at Gateway `{}`, found plain HTTP: browsers drop `Secure` cookies, and no \
             session would keep its version",
            observed.gateway.name
        );
        failed(PreflightCheck::NoTls, message, Alternative::StateTls)
    })
}

#[expect(clippy::unnecessary_wraps, reason = "each check returns what has failed, or `None`")]
fn failed(check: PreflightCheck, message: String, alternative: Alternative) -> Option<CheckFailed> {
    Some(CheckFailed { check, message, alternative })
}

/// The selector of a Gateway object; `None` without an object. An empty one selects all pods.
fn own_selector(observed: &GatewayObservation) -> Option<PodLabels> {
    if observed.is_gateway_api {
        return None;
    }
    let object = observed.object.as_ref()?;
    let labels = object.pointer("/spec/selector").and_then(Value::as_object).into_iter().flatten();
    Some(labels.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect())
}

pub(super) fn fits(selector: &PodLabels, labels: &PodLabels) -> bool {
    selector.iter().all(|(name, value)| labels.get(name) == Some(value))
}

/// The servers of a Gateway that serve a host to the routes of the release's namespace; of one of the Gateway API its listeners.
fn servers_of<'o>(
    release: &'o Release,
    observed: &'o GatewayObservation,
    host: &'o str,
) -> impl Iterator<Item = &'o Value> {
    let field = if observed.is_gateway_api { "/spec/listeners" } else { "/spec/servers" };
    let servers = observed.object.as_ref().and_then(|object| object.pointer(field)?.as_array());
    let namespaces = (observed.gateway.name.namespace.as_str(), release.name.namespace.as_str());
    servers.into_iter().flatten().filter(move |server| {
        if observed.is_gateway_api {
            let hostname = server.get("hostname").and_then(Value::as_str);
            return hostname.is_none_or(|served| overlap(&served.to_ascii_lowercase(), host));
        }
        let hosts = server.get("hosts").and_then(Value::as_array).into_iter().flatten();
        hosts.filter_map(Value::as_str).any(|served| serves(served, namespaces, host))
    })
}

/// Whether an entry of `servers[].hosts`, `host` or `namespace/host`, serves a host to routes of a namespace. `.` is the
/// Gateway's own namespace.
fn serves(entry: &str, (gateway, routes): (&str, &str), host: &str) -> bool {
    let (namespace, served) = entry.split_once('/').unwrap_or(("*", entry));
    let is_visible = match namespace {
        "*" => true,
        "." => gateway == routes,
        other => other == routes,
    };
    is_visible && overlap(&served.to_ascii_lowercase(), host)
}

/// Whether a host or wildcard contains the other one: Istio binds a route to what both have in common.
fn overlap(one: &str, other: &str) -> bool {
    narrower(one, other).is_some()
}

fn has_host(route_object: &Value, host: &str) -> bool {
    let hosts = route_object.pointer("/spec/hosts").and_then(Value::as_array).into_iter().flatten();
    hosts.filter_map(Value::as_str).any(|served| overlap(&served.to_ascii_lowercase(), host))
}

fn protocol(server: &Value) -> Option<String> {
    // That of a listener of the Gateway API is a field of its own.
    let protocol = server.pointer("/port/protocol").or_else(|| server.get("protocol"))?;
    Some(protocol.as_str()?.to_ascii_uppercase())
}

fn text(labels: &PodLabels) -> String {
    if labels.is_empty() {
        return "`{}`".to_owned();
    }
    let pairs: Vec<String> = labels.iter().map(|(name, value)| format!("`{name}: {value}`")).collect();
    pairs.join(", ")
}

#[cfg(test)]
#[path = "exposure_tests.rs"]
mod tests;
