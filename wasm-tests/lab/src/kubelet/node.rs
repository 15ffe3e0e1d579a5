//! The one node. Pods on a node that is not there would be collected as orphans.

use std::num::NonZero;
use std::thread::available_parallelism;

use k8s_openapi::api::core::v1::Node;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use super::super::space::NODE;
use super::port_forward;

pub(crate) const NODE_NAME: &str = "lab";

/// Adds it, ready for pods.
pub(super) async fn register(client: &Client) -> Result<(), kube::Error> {
    let nodes: Api<Node> = Api::all(client.clone());
    let manager = PatchParams::apply("kubelet").force();
    let name = json!({"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": NODE_NAME,
        "labels": {"kubernetes.io/hostname": NODE_NAME, "kubernetes.io/os": "linux"},
    }});
    nodes.patch(NODE_NAME, &manager, &Patch::Apply(name)).await?;
    let room = json!({"cpu": cores().to_string(), "memory": "8Gi", "pods": "250"});
    let status = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE_NAME}, "status": {
        "addresses": [{"type": "InternalIP", "address": NODE}, {"type": "Hostname", "address": NODE_NAME}],
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        "capacity": room,
        "allocatable": room,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port_forward::PORT}},
    }});
    nodes.patch_status(NODE_NAME, &manager, &Patch::Apply(status)).await?;
    Ok(())
}

/// Processors, which is what a container without a limit has.
pub(super) fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}
