//! Routes of others for a host of the release that Istio would not use beside ours.

use super::exposure::fits;
use super::{
    Alternative, CheckFailed, Exposure, GatewayObservation, OtherGateway, PodLabels, PreflightCheck,
};
use crate::manifest::route_bindings;
use crate::routing::{GatewayServer, HostBinding, MESH, TakenHost, http_route_bindings, taken_hosts};
use crate::spec::{Gateway, Release, Routes};
use serde_json::Value;

/// A failure for each object of others whose requests would be ours.
pub(super) fn host_taken(release: &Release, exposure: &Exposure) -> Vec<CheckFailed> {
    let Some(routes) = exposure.routes else { return Vec::new() };
    let is_near = |body: &&Value| {
        body.pointer("/metadata/namespace").and_then(Value::as_str) == Some(release.name.namespace.as_str())
    };
    let near: Vec<Value> = exposure.route_objects.iter().filter(is_near).cloned().collect();
    let ours = route_bindings(release, routes, &near);
    let mut observed: Vec<HostBinding> = exposure.route_objects.iter().filter_map(HostBinding::of).collect();
    // One for connections has no virtual host.
    let of = |route: &Value, kind: &str| route.get("kind").and_then(Value::as_str) == Some(kind);
    let is_http = |route: &&Value| !of(route, "TLSRoute") && !of(route, "TCPRoute");
    observed.extend(exposure.http_routes.iter().filter(is_http).flat_map(http_route_bindings));
    taken_hosts(&ours, &observed, &servers(exposure)).into_iter().map(failed).collect()
}

/// A failure for each host of the release whose connections a Gateway of others at the same pods takes.
pub(super) fn connections_taken(release: &Release, exposure: &Exposure) -> Vec<CheckFailed> {
    let of = |observed: &GatewayObservation| {
        let (own, others) = (own_servers(observed), other_servers(exposure, observed));
        let taken = |host: &String| {
            let is_first = |one: &&GatewayServer| !own.iter().any(|other| other.takes_connections(host, one));
            let mut served = own.iter().filter(is_first);
            let taker = served.find_map(|one| others.iter().find(|other| other.precedes(host, one)))?;
            // Where routes are external they may be bound to that Gateway.
            let is_lost = taker.passes_on() || exposure.routes != Some(Routes::External);
            is_lost.then(|| connections(&observed.gateway, host, taker))
        };
        release.hosts.iter().filter_map(taken).collect::<Vec<_>>()
    };
    exposure.gateways.iter().filter(|observed| !observed.is_gateway_api).flat_map(of).collect()
}

fn connections(gateway: &Gateway, host: &str, taker: &GatewayServer) -> CheckFailed {
    let (effect, alternative) = if taker.passes_on() {
        ("passes them on, and no filter decides", Alternative::TerminateTls { host: host.to_owned() })
    } else {
        ("has routes of its own", Alternative::NameGateway)
    };
    let message = format!(
        "expected connections for host `{host}` at Gateway `{}`, found that Gateway `{}` takes them at the same pods and port: it names the \
         host more exactly, or is older; it {effect}",
        gateway.name,
        taker.name()
    );
    CheckFailed { check: PreflightCheck::NoHttpServer, message, alternative }
}

/// The servers of the Gateways, and of those of others that have the same pods.
fn servers(exposure: &Exposure) -> Vec<GatewayServer> {
    let istio = exposure.gateways.iter().filter(|observed| !observed.is_gateway_api);
    istio.flat_map(|observed| [own_servers(observed), other_servers(exposure, observed)].concat()).collect()
}

fn own_servers(observed: &GatewayObservation) -> Vec<GatewayServer> {
    let (name, pods) = (observed.gateway.name.to_string(), &observed.gateway.pods);
    GatewayServer::of_istio(&name, pods, observed.object.as_ref())
}

fn other_servers(exposure: &Exposure, observed: &GatewayObservation) -> Vec<GatewayServer> {
    let pods = &observed.gateway.pods;
    let others = exposure.other_gateways.iter().filter(|other| other.serves(observed));
    let servers = others.map(|other| match &other.namespace {
        Some(_) => GatewayServer::of_gateway_api(&other.object, pods, &exposure.namespaces),
        None => GatewayServer::of_istio(&other.name, pods, Some(&other.object)),
    });
    servers.flatten().collect()
}

impl OtherGateway {
    /// Whether its pods are those of a Gateway of the release.
    fn serves(&self, observed: &GatewayObservation) -> bool {
        self.selects(observed.gateway.pods.namespace.as_str(), &observed.pods)
    }

    /// Whether one of these pods of a namespace is its.
    pub fn selects(&self, namespace: &str, pods: &[PodLabels]) -> bool {
        self.namespace.as_deref().is_none_or(|own| own == namespace)
            && pods.iter().any(|labels| fits(&self.selector, labels))
    }
}

fn failed(taken: TakenHost) -> CheckFailed {
    let TakenHost { host, gateway, object, wildcard } = &taken;
    let place =
        if gateway == MESH { "inside the mesh".to_owned() } else { format!("at Gateway `{gateway}`") };
    let why = match (host == wildcard, gateway == MESH) {
        (false, _) => {
            format!(", which has `{wildcard}`: Istio would use ours alone, which name the host more exactly")
        }
        (true, false) => {
            " at another Gateway of the same pods and port: ours would take its requests".to_owned()
        }
        (true, true) => ": Istio uses those of one object, and merges none inside the mesh".to_owned(),
    };
    let message = format!("expected no other routes for host `{host}` {place}, found those of {object}{why}");
    CheckFailed {
        check: PreflightCheck::HostTaken,
        message,
        alternative: Alternative::ShareHost { taken: Box::new(taken) },
    }
}
