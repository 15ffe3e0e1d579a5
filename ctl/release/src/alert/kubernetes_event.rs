//! An alert as an Event of the record's ConfigMap.
//!
//! # Source
//! [Event v1 `events.k8s.io`](https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/); limits:
//! `ValidateEventCreate` of Kubernetes.

use super::{Alert, AlertKind, AlertMessage};
use crate::spec::AlertSeverity;
use serde_json::{Value, json};

/// The reporter: a name with a domain.
const REPORTER: &str = "canary-ctl.io/rollout";
/// The most bytes of `note`.
const MAX_NOTE: usize = 1_024;

/// The Event. Its name follows from the id of the alert: the API server stores it once, however often it is sent. `record_uid` is the uid
/// of the ConfigMap, by which `kubectl describe` finds it.
pub fn kubernetes_event(message: AlertMessage<'_>, record_uid: Option<&str>) -> Value {
    let AlertMessage { release, alert } = message;
    let Alert { id, kind, at, reason, .. } = alert;
    let record = format!("{}-canary", release.name);
    let mut note = format!("{}: {reason}", message.title());
    note.truncate(note.floor_char_boundary(MAX_NOTE));
    let mut regarding = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "namespace": release.namespace.as_str(),
        "name": record,
    });
    if let (Some(uid), Some(fields)) = (record_uid, regarding.as_object_mut()) {
        fields.insert("uid".to_owned(), json!(uid));
    }
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": format!("{record}-{}", dns(id)), "namespace": release.namespace.as_str()},
        "eventTime": at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string(),
        "reportingController": REPORTER,
        "reportingInstance": release.to_string(),
        "action": "Rollout",
        "reason": camel_case(*kind),
        "regarding": regarding,
        "note": note,
        "type": if kind.severity() == AlertSeverity::Info { "Normal" } else { "Warning" },
    })
}

/// A text as the name of an object.
fn dns(id: &str) -> String {
    let legal = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    id.chars().map(legal).collect()
}

/// `RolloutRolledBack`.
fn camel_case(kind: AlertKind) -> String {
    let mut letters = kind.as_str().chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    "Rollout".chars().chain(first).chain(letters).collect()
}
