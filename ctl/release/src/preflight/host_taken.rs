//! Routes of others for a host of the release that Istio would not use beside ours.

use super::{Alternative, CheckFailed, Exposure, GatewayObservation, PreflightCheck};
use crate::manifest::route_bindings;
use crate::routing::{GatewayServer, MESH, TakenHost, taken_hosts};
use crate::spec::Release;
use serde_json::{Value, json};

/// A failure for each object of others that answers for a host of ours by a wildcard.
pub(super) fn host_taken(release: &Release, exposure: &Exposure) -> Vec<CheckFailed> {
    let Some(routes) = exposure.routes else { return Vec::new() };
    let is_near = |body: &&Value| {
        body.pointer("/metadata/namespace").and_then(Value::as_str) == Some(release.name.namespace.as_str())
    };
    let near: Vec<Value> = exposure.route_objects.iter().filter(is_near).cloned().collect();
    let ours = route_bindings(release, routes, &near);
    let taken = taken_hosts(&ours, &exposure.route_objects, &servers(exposure));
    taken.into_iter().map(failed).collect()
}

/// The servers of the Gateways. One that was not found serves every host.
fn servers(exposure: &Exposure) -> Vec<GatewayServer> {
    let istio = exposure.gateways.iter().filter(|observed| !observed.is_gateway_api);
    let of = |observed: &GatewayObservation| {
        let Some(object) = &observed.object else { return vec![server(observed, &json!({"hosts": ["*"]}))] };
        let servers = object.pointer("/spec/servers").and_then(Value::as_array).into_iter().flatten();
        servers.map(|found| server(observed, found)).collect()
    };
    istio.flat_map(of).collect()
}

fn server(observed: &GatewayObservation, found: &Value) -> GatewayServer {
    let hosts = found.get("hosts").and_then(Value::as_array).into_iter().flatten();
    let port = found.get("port");
    let is_tls = |port: &&Value| {
        let protocol = port.get("protocol").and_then(Value::as_str).unwrap_or_default();
        ["HTTPS", "TLS"].iter().any(|tls| protocol.eq_ignore_ascii_case(tls))
    };
    GatewayServer {
        gateway: observed.gateway.name.to_string(),
        namespace: observed.gateway.pods.namespace.to_string(),
        hosts: hosts.filter_map(|host| host.as_str().map(str::to_owned)).collect(),
        tls_port: port.filter(is_tls).and_then(|port| port.get("number")?.as_u64()),
    }
}

fn failed(taken: TakenHost) -> CheckFailed {
    let TakenHost { host, gateway, object, wildcard } = &taken;
    let place =
        if gateway == MESH { "inside the mesh".to_owned() } else { format!("at Gateway `{gateway}`") };
    let message = format!(
        "expected no other routes for host `{host}` {place}, found those of {object}, which has `{wildcard}`: Istio would use ours alone, \
         which name the host more exactly"
    );
    CheckFailed {
        check: PreflightCheck::HostTaken,
        message,
        alternative: Alternative::ShareHost { taken: Box::new(taken) },
    }
}
