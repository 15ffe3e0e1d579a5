//! Whether the pods of a version are ready, and if not, what they wait for or what keeps them from it for good.
//!
//! # Source
//! The conditions of a complete and of a failed Deployment are those of `kubectl rollout status`
//! ([Deployments, "Deployment status"](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status));
//! the reasons of containers are the kubelet's
//! ([Pod lifecycle, "Container states"](https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states)).

use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// A container that has crashed so often is taken for one that will not run: by then the kubelet has waited 10, 20 and 40 s.
const MAX_RESTARTS: u64 = 3;

/// Reasons for which a container waits, and that no retry of the kubelet ends.
const PERMANENT: [&str; 6] = [
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ImageInspectError",
    "ImagePullBackOff",
    "InvalidImageName",
];

/// The pods of a version at one moment.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionReadiness {
    /// Every workload of it is complete, and every pod of another owner ready.
    Ready { pods: u64 },
    /// Not yet.
    Waiting {
        /// Its pods that are ready.
        ready: u64,
        /// Those that are wanted.
        wanted: u64,
        /// The reasons: a sentence for each pod, or for each workload without one.
        reasons: Vec<String>,
    },
    /// No, and time alone changes nothing.
    Failed(ReadinessFailure),
}

/// The reason for which the pods of a version do not get ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadinessFailure {
    /// The workload or the pod.
    pub object: String,
    /// The container, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Whether the container has run before: then its last output is that of the run before.
    #[serde(skip)]
    pub has_restarted: bool,
    /// The reason and the message of Kubernetes.
    pub message: String,
}

impl fmt::Display for ReadinessFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.object)?;
        if let Some(container) = &self.container {
            write!(f, ", container {container}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl VersionReadiness {
    /// Judges the workloads of a version and its pods, as the API server returns them. Workloads have their kind.
    pub fn of(workloads: &[Value], pods: &[Value]) -> Self {
        // A pod says more than its workload does.
        if let Some(failure) = pods.iter().find_map(failure).or_else(|| workloads.iter().find_map(deadline)) {
            return Self::Failed(failure);
        }
        let others: Vec<&Value> = pods.iter().filter(|pod| !is_of(pod, workloads)).collect();
        let ready_others = others.iter().filter(|pod| waiting(pod).is_none()).count() as u64;
        let counts = workloads.iter().map(Counts::of);
        let (ready, wanted) = counts.fold((ready_others, others.len() as u64), |(ready, wanted), counts| {
            (ready + counts.ready.min(counts.wanted), wanted + counts.wanted)
        });
        let is_complete = workloads.iter().all(|object| Counts::of(object).is_complete());
        if is_complete && ready_others == others.len() as u64 && !(workloads.is_empty() && others.is_empty())
        {
            return Self::Ready { pods: wanted };
        }
        let mut reasons: Vec<String> = pods.iter().filter_map(waiting).collect();
        reasons.extend(workloads.iter().filter_map(replica_failure));
        if workloads.is_empty() && pods.is_empty() {
            reasons.push("no pod has the label of this version, and no workload makes one".to_owned());
        }
        Self::Waiting { ready, wanted, reasons }
    }
}

/// Whether one of these workloads makes a pod; a Deployment does it through its `ReplicaSets`. A pod without an owner is none to wait for beside them.
fn is_of(pod: &Value, workloads: &[Value]) -> bool {
    if items(pod, "/metadata/ownerReferences").next().is_none() {
        return !workloads.is_empty();
    }
    items(pod, "/metadata/ownerReferences").any(|owner| {
        let (kind, of) = (text(owner, "/kind"), text(owner, "/name"));
        workloads.iter().any(|workload| match kind_of(workload) {
            // The name of a ReplicaSet is that of its Deployment with a hash.
            "Deployment" => {
                kind == "ReplicaSet" && of.rsplit_once('-').is_some_and(|(start, _)| start == name(workload))
            }
            other => kind == other && of == name(workload),
        })
    })
}

fn kind_of(workload: &Value) -> &str {
    workload.get("kind").and_then(Value::as_str).unwrap_or("Deployment")
}

/// The numbers of a workload.
struct Counts {
    wanted: u64,
    updated: u64,
    all: u64,
    ready: u64,
    available: u64,
    is_observed: bool,
}

impl Counts {
    fn of(workload: &Value) -> Self {
        let number = |pointer: &str| workload.pointer(pointer).and_then(Value::as_u64);
        let status = |field: &str| number(&format!("/status/{field}")).unwrap_or_default();
        if kind_of(workload) == "DaemonSet" {
            let wanted = status("desiredNumberScheduled");
            return Self {
                wanted,
                updated: status("updatedNumberScheduled"),
                all: wanted,
                ready: status("numberReady"),
                available: status("numberAvailable"),
                is_observed: number("/status/observedGeneration") >= number("/metadata/generation"),
            };
        }
        Self {
            wanted: number("/spec/replicas").unwrap_or(1),
            updated: status("updatedReplicas"),
            all: status("replicas"),
            ready: status("readyReplicas"),
            available: status("availableReplicas"),
            is_observed: number("/status/observedGeneration") >= number("/metadata/generation"),
        }
    }

    const fn is_complete(&self) -> bool {
        let Self { wanted, updated, all, available, is_observed, .. } = *self;
        is_observed && updated >= wanted && all <= updated && available >= updated
    }
}

fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn items<'v>(object: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn condition<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    items(object, "/status/conditions").find(|condition| text(condition, "/type") == kind)
}

/// A reason with its message, if there is one.
fn reason(state: &Value) -> String {
    match (text(state, "/reason"), text(state, "/message")) {
        (reason, "") => reason.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

fn deadline(deployment: &Value) -> Option<ReadinessFailure> {
    let progressing = condition(deployment, "Progressing")?;
    let is_exceeded = text(progressing, "/reason") == "ProgressDeadlineExceeded";
    is_exceeded.then(|| ReadinessFailure {
        object: format!("{} {}", kind_of(deployment), name(deployment)),
        container: None,
        has_restarted: false,
        message: reason(progressing),
    })
}

/// Pods that the API server refuses: a quota, a policy, a missing service account. The controller tries again.
fn replica_failure(deployment: &Value) -> Option<String> {
    let failed = condition(deployment, "ReplicaFailure").filter(|found| text(found, "/status") == "True")?;
    Some(format!("{} {}: {}", kind_of(deployment), name(deployment), reason(failed)))
}

/// The containers of a pod as the kubelet sees them.
fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    items(pod, "/status/initContainerStatuses").chain(items(pod, "/status/containerStatuses"))
}

fn failure(pod: &Value) -> Option<ReadinessFailure> {
    containers(pod).find_map(|container| {
        let state = container.pointer("/state/waiting")?;
        let restarts = container.pointer("/restartCount").and_then(Value::as_u64).unwrap_or_default();
        let word = text(state, "/reason");
        let crashes = word == "CrashLoopBackOff" && restarts >= MAX_RESTARTS;
        if !crashes && !PERMANENT.contains(&word) {
            return None;
        }
        let end = container.pointer("/lastState/terminated/exitCode").and_then(Value::as_i64);
        let end = end.map(|code| format!(", last exit code {code}")).unwrap_or_default();
        Some(ReadinessFailure {
            object: format!("Pod {}", name(pod)),
            container: Some(text(container, "/name").to_owned()),
            has_restarted: restarts > 0,
            message: reason(state) + &end,
        })
    })
}

/// The reason for which a pod is not ready; `None` if it is.
fn waiting(pod: &Value) -> Option<String> {
    let is_true = |kind: &str| condition(pod, kind).is_some_and(|found| text(found, "/status") == "True");
    if is_true("Ready") {
        return None;
    }
    let scheduled = condition(pod, "PodScheduled").filter(|found| text(found, "/status") == "False");
    let why = scheduled.map(reason).or_else(|| {
        let states = containers(pod).find_map(|container| {
            let state = container.pointer("/state/waiting")?;
            Some(format!("container {}: {}", text(container, "/name"), reason(state)))
        });
        states.or_else(|| {
            let unready = containers(pod).find(|container| container["ready"] == Value::Bool(false))?;
            Some(format!("container {} runs and is not ready", text(unready, "/name")))
        })
    });
    Some(format!("Pod {}: {}", name(pod), why.unwrap_or_else(|| text(pod, "/status/phase").to_owned())))
}

#[cfg(test)]
#[path = "readiness_tests.rs"]
mod tests;
