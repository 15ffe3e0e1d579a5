//! The steps of the move beside the release: objects to apply and commands to type, in order.

use serde::Serialize;
use serde_json::{Value, json};

/// One step of the move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoveStep {
    /// Why, and what it does to users.
    pub why: String,
    /// A change of an object that exists, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<MoveAction>,
    /// The object to apply, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
}

/// A change of an object that exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MoveAction {
    /// Delete a `Canary`; what it owns stays, without an owner.
    OrphanCanary(ObjectName),
    /// Delete the `DestinationRule`s that Flagger has made for the versions of a Service: `NAME-primary`, `NAME-canary`.
    DeleteRulesOfVersions(ObjectName),
    /// Delete a `Rollout`; its `ReplicaSet`s stay, without an owner.
    OrphanRollout(ObjectName),
    /// Delete a Deployment.
    DeleteDeployment(ObjectName),
    /// Give the running pods of a Deployment the label of their version, by its name and value.
    AdoptDeployment(ObjectName, [String; 2]),
    /// Scale a Deployment.
    ScaleDeployment(ObjectName, u32),
}

/// The name of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectName {
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }
}

impl MoveStep {
    pub(super) fn object(why: impl Into<String>, object: Value) -> Self {
        Self { why: why.into(), action: None, object: Some(object) }
    }

    pub(super) fn action(why: impl Into<String>, action: MoveAction) -> Self {
        Self { why: why.into(), action: Some(action), object: None }
    }

    pub(super) fn note(why: impl Into<String>) -> Self {
        Self { why: why.into(), action: None, object: None }
    }
}

/// An object without status and without what belongs to the API server or to another writer.
pub(super) fn object(api_version: &str, kind: &str, (namespace, name): (&str, &str), spec: &Value) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}

pub(super) const ISTIO: &str = "networking.istio.io/v1";

/// A label that the API server refuses: a selector with it is applied to no cluster by mistake.
pub(super) const NO_LABEL: &str = "<a label that the pods of both versions have>";
