//! The controllers of Deployments and `ReplicaSets`: a Deployment whose template is that of no `ReplicaSet` gets a new one, unless
//! it is paused, and the pods of the others are deleted.
//!
//! # Source
//! k8s.io/kubernetes/pkg/controller/deployment: `FindNewReplicaSet` (the oldest with an equal template, the hash ignored), `sync` (of a
//! paused Deployment: no new `ReplicaSet`, and its status), `pkg/controller/replicaset`.

use super::store::Store;
use crate::fixture::pod;
use serde_json::{Value, json};

/// They see each change at once, unless they lag or are stopped.
#[derive(Default)]
pub struct Controllers {
    are_stopped: bool,
    /// After so many reads of clients the controller of Deployments sees a change of a `ReplicaSet`.
    lag: usize,
    left: usize,
    /// The `ReplicaSets` as it sees them.
    seen: Vec<Value>,
    /// How many names were given.
    named: usize,
}

impl Controllers {
    /// The controller of Deployments sees a change of a `ReplicaSet` after so many reads of clients, and other changes at once: it
    /// watches both by themselves.
    pub fn lag(&mut self, reads: usize) {
        self.lag = reads;
    }

    pub fn stop(&mut self) {
        self.are_stopped = true;
    }

    pub fn start(&mut self, store: &mut Store) {
        self.are_stopped = false;
        self.sync(store);
    }

    /// What they do after each write.
    pub(super) fn sync(&mut self, store: &mut Store) {
        if self.are_stopped {
            return;
        }
        self.sync_replica_sets(store);
        if sets(store) != self.seen {
            if self.lag == 0 {
                self.seen = sets(store);
            } else if self.left == 0 {
                self.left = self.lag;
            }
        }
        self.sync_deployments(store);
        self.sync_replica_sets(store);
        if self.lag == 0 {
            self.seen = sets(store);
            self.sync_deployments(store);
        }
    }

    /// What they do after a read.
    pub(super) fn tick(&mut self, store: &mut Store) {
        if self.are_stopped || self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            self.seen = sets(store);
            self.sync(store);
        }
    }

    fn sync_replica_sets(&mut self, store: &mut Store) {
        for set in sets(store) {
            let (namespace, name) = place(&set);
            let wanted = replicas(&set);
            let pods: Vec<Value> = store.of_kind("Pod").filter(|pod| is_owned(pod, &set)).cloned().collect();
            for _ in pods.len()..wanted {
                self.named += 1;
                let labels = &set["spec"]["template"]["metadata"]["labels"];
                let mut pod = pod(&namespace, &format!("{name}-{}", self.named), labels);
                pod["metadata"]["ownerReferences"] = owned_by(&set);
                store.create_as("kube-controller-manager", &pod);
            }
            for pod in pods.iter().skip(wanted) {
                store.remove("Pod", &place(pod).1);
            }
            store.edit_as("kube-controller-manager", "ReplicaSet", &name, |set| {
                set["status"] = json!({"observedGeneration": set["metadata"]["generation"],
                    "replicas": wanted, "availableReplicas": wanted});
            });
        }
    }

    fn sync_deployments(&mut self, store: &mut Store) {
        let deployments: Vec<Value> = store.of_kind("Deployment").cloned().collect();
        for deployment in deployments {
            let own: Vec<Value> =
                self.seen.iter().filter(|set| is_owned(set, &deployment)).cloned().collect();
            let is_new = |set: &&Value| template(set) == template(&deployment);
            let new =
                own.iter().filter(is_new).min_by_key(|set| set["metadata"]["creationTimestamp"].to_string());
            let mut new = new.map(|set| place(set).1);
            let is_paused = deployment["spec"]["paused"] == true;
            let wanted = replicas(&deployment);
            if new.is_none() && !is_paused {
                new = Some(self.create_replica_set(store, &deployment));
            }
            for set in &own {
                let name = place(set).1;
                let replicas = match &new {
                    Some(new) if *new == name => wanted,
                    // The one with pods is scaled while there is no new one.
                    None if replicas(set) > 0 => wanted,
                    _ if is_paused => continue,
                    _ => 0,
                };
                store.edit_as("kube-controller-manager", "ReplicaSet", &name, |set| {
                    set["spec"]["replicas"] = json!(replicas);
                });
            }
            let counted = |set: &&Value| is_owned(set, &deployment);
            let all: usize = sets(store).iter().filter(counted).map(replicas).sum();
            let updated = new.map_or(0, |new| store.find("ReplicaSet", &new).map_or(0, replicas));
            store.edit_as("kube-controller-manager", "Deployment", &place(&deployment).1, |deployment| {
                deployment["status"] = json!({"observedGeneration": deployment["metadata"]["generation"],
                    "replicas": all, "updatedReplicas": updated, "availableReplicas": all});
            });
        }
    }

    fn create_replica_set(&mut self, store: &mut Store, deployment: &Value) -> String {
        self.named += 1;
        let ((namespace, of), hash) = (place(deployment), format!("hash{}", self.named));
        let name = format!("{of}-{hash}");
        let mut set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": name, "namespace": namespace, "ownerReferences": owned_by(deployment)},
            "spec": {"replicas": deployment["spec"]["replicas"], "selector": deployment["spec"]["selector"],
                "template": deployment["spec"]["template"]}});
        set["spec"]["selector"]["matchLabels"]["pod-template-hash"] = json!(hash);
        set["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = json!(hash);
        set["metadata"]["labels"] = set["spec"]["template"]["metadata"]["labels"].clone();
        // `SetNewReplicaSetAnnotations`.
        let annotations = deployment["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
        set["metadata"]["annotations"] = annotations.into();
        set["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = json!(self.named.to_string());
        store.create_as("kube-controller-manager", &set);
        name
    }
}

fn sets(store: &Store) -> Vec<Value> {
    store.of_kind("ReplicaSet").cloned().collect()
}

/// Without the hash.
fn template(object: &Value) -> Value {
    let mut template = object["spec"]["template"].clone();
    if let Some(labels) = template["metadata"]["labels"].as_object_mut() {
        labels.shift_remove("pod-template-hash");
    }
    template
}

fn replicas(object: &Value) -> usize {
    usize::try_from(object["spec"]["replicas"].as_u64().unwrap_or(1)).unwrap()
}

fn place(object: &Value) -> (String, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap().to_owned();
    (text("namespace"), text("name"))
}

fn owned_by(object: &Value) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": object["kind"], "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"], "controller": true}])
}

fn is_owned(object: &Value, by: &Value) -> bool {
    object["metadata"]["ownerReferences"][0]["uid"] == by["metadata"]["uid"]
}
