//! What a change of the label has written, and what runs before and after it.

use canary_release::object::Reference;
use canary_release::plan::{LabelDirection, LabelNote, LabelWrite, LabelledWorkload, VersionLabel, uid};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// An object: one of the same name that took its place has another uid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectIdentity {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

/// The running workload of a Deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadIdentity {
    /// The `ReplicaSet` whose template is the Deployment's.
    pub replica_set: Option<ObjectIdentity>,
    /// Its pods that run: the uids by the names.
    pub pods: BTreeMap<String, String>,
}

/// A change of the label: what was written, or would be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Adoption {
    /// The Deployment.
    pub deployment: Reference,
    /// The label.
    pub label: VersionLabel,
    /// Whether the label is written or removed.
    pub direction: LabelDirection,
    /// The writes, in order.
    pub writes: Vec<LabelWrite>,
    /// Notes of later risks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<LabelNote>,
    /// The workload before.
    pub before: WorkloadIdentity,
    /// The workload after it.
    pub after: WorkloadIdentity,
}

impl Adoption {
    /// Whether the `ReplicaSet` is the one of before.
    pub fn keeps_replica_set(&self) -> bool {
        self.before.replica_set == self.after.replica_set
    }

    /// The pods that ran before and do not any more.
    pub fn gone_pods(&self) -> Vec<&str> {
        let is_gone = |(name, uid): &(&String, &String)| self.after.pods.get(*name) != Some(*uid);
        self.before.pods.iter().filter(is_gone).map(|(name, _)| name.as_str()).collect()
    }
}

impl WorkloadIdentity {
    pub(super) fn of(workload: &LabelledWorkload, label: &VersionLabel) -> Self {
        let named = |object: &Value| {
            let name = object.pointer("/metadata/name").and_then(Value::as_str)?;
            Some((name.to_owned(), uid(object)?.to_owned()))
        };
        let current = workload.current(label);
        Self {
            replica_set: current.and_then(named).map(|(name, uid)| ObjectIdentity { name, uid }),
            pods: current.into_iter().flat_map(|set| workload.pods_of(set)).filter_map(named).collect(),
        }
    }
}
