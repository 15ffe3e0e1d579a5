//! Routes of others for a host of the release that Istio would not use beside ours.

use super::exposure::fits;
use super::{Alternative, CheckFailed, Exposure, GatewayObservation, OtherGateway, PreflightCheck};
use crate::manifest::route_bindings;
use crate::routing::{GatewayServer, HostBinding, MESH, TakenHost, http_route_bindings, taken_hosts};
use crate::spec::Release;
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
    observed.extend(exposure.http_routes.iter().flat_map(http_route_bindings));
    taken_hosts(&ours, &observed, &servers(exposure)).into_iter().map(failed).collect()
}

/// The servers of the Gateways, and of those of others that have the same pods.
fn servers(exposure: &Exposure) -> Vec<GatewayServer> {
    let istio = exposure.gateways.iter().filter(|observed| !observed.is_gateway_api);
    let of = |observed: &GatewayObservation| {
        let (name, pods) = (observed.gateway.name.to_string(), &observed.gateway.pods);
        let mut servers = GatewayServer::of_istio(&name, pods, observed.object.as_ref());
        for other in exposure.other_gateways.iter().filter(|other| other.serves(observed)) {
            servers.extend(match &other.namespace {
                Some(_) => GatewayServer::of_gateway_api(&other.object, pods),
                None => GatewayServer::of_istio(&other.name, pods, Some(&other.object)),
            });
        }
        servers
    };
    istio.flat_map(of).collect()
}

impl OtherGateway {
    /// Whether its pods are those of a Gateway of the release.
    fn serves(&self, observed: &GatewayObservation) -> bool {
        let namespace = observed.gateway.pods.namespace.as_str();
        self.namespace.as_deref().is_none_or(|own| own == namespace)
            && observed.pods.iter().any(|labels| fits(&self.selector, labels))
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
