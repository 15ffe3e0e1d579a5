//! The status of a pod that is reported to the API server.

use std::net::Ipv4Addr;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Container;
use serde_json::{Value, json};

use super::super::space::NODE;
use super::container::{ContainerPhase, State, Terminated};

/// A container and what it is doing.
pub(super) type Seen<'a> = (&'a Container, State);

/// All that the status is made of.
pub(super) struct Report<'a> {
    pub(super) address: Ipv4Addr,
    pub(super) started: Timestamp,
    /// Init containers, in order; those that stay are sidecars.
    pub(super) first: Vec<Seen<'a>>,
    pub(super) containers: Vec<Seen<'a>>,
    /// Init containers have done their work.
    pub(super) initialized: bool,
    /// Whether containers that end stay ended.
    pub(super) ends: bool,
    /// Terminating.
    pub(super) going: bool,
}

impl Report<'_> {
    pub(super) fn status(&self) -> Value {
        let sidecar = |container: &Container| container.restart_policy.as_deref() == Some("Always");
        let sidecars_ready = self.first.iter().all(|(container, state)| !sidecar(container) || state.ready);
        let containers_ready = self.containers.iter().all(|(_, state)| state.ready) && sidecars_ready;
        let ready = self.initialized && containers_ready && !self.going;
        let condition = |kind: &str, holds: bool| json!({"type": kind, "status": if holds { "True" } else { "False" }, "lastTransitionTime": time(self.started)});
        json!({
            "phase": self.phase(),
            "hostIP": NODE, "hostIPs": [{"ip": NODE}],
            "podIP": self.address, "podIPs": [{"ip": self.address}],
            "startTime": time(self.started),
            "conditions": [
                condition("PodScheduled", true), condition("Initialized", self.initialized),
                condition("ContainersReady", containers_ready), condition("Ready", ready),
            ],
            "initContainerStatuses": self.first.iter().map(container).collect::<Vec<_>>(),
            "containerStatuses": self.containers.iter().map(container).collect::<Vec<_>>(),
        })
    }

    /// Pending, Running, Succeeded or Failed.
    pub(super) fn phase(&self) -> &'static str {
        let codes: Option<Vec<i32>> = self.containers.iter().map(|(_, state)| code(state)).collect();
        match codes {
            _ if !self.initialized => "Pending",
            Some(codes) if self.ends && codes.iter().all(|code| *code == 0) => "Succeeded",
            Some(_) if self.ends => "Failed",
            _ => "Running",
        }
    }
}

fn code(state: &State) -> Option<i32> {
    match &state.phase {
        ContainerPhase::Terminated(terminated) => Some(terminated.code),
        ContainerPhase::Waiting(_) | ContainerPhase::Running(_) => None,
    }
}

fn container((container, state): &Seen<'_>) -> Value {
    let now = match &state.phase {
        ContainerPhase::Waiting(reason) => json!({"waiting": {"reason": reason}}),
        ContainerPhase::Running(since) => json!({"running": {"startedAt": time(*since)}}),
        ContainerPhase::Terminated(end) => json!({"terminated": terminated(end)}),
    };
    json!({
        "name": container.name,
        "image": container.image,
        "imageID": "",
        "ready": state.ready,
        "started": state.started,
        "restartCount": state.restarts,
        "state": now,
        "lastState": state.last.as_ref().map(|end| json!({"terminated": terminated(end)})).unwrap_or_default(),
    })
}

fn terminated(end: &Terminated) -> Value {
    json!({
        "exitCode": end.code,
        "reason": if end.code == 0 { "Completed" } else { "Error" },
        "startedAt": time(end.started),
        "finishedAt": time(end.finished),
    })
}

/// Kubernetes keeps whole seconds.
fn time(at: Timestamp) -> String {
    at.strftime("%FT%TZ").to_string()
}
