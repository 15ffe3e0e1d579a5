//! A release, a `VirtualService` of another owner, and an API server that applies the given changes.

use canary_release::file::load;
use canary_release::object::{Reference, Stage, restore_ownership};
use canary_release::plan::{Action, edits, removal};
use canary_release::record::Record;
use canary_release::routing::RouteTargets;
use canary_release::spec::Release;
use canary_release::state::ReleaseState;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const LIST: &str = "networking.istio.io/v1";

pub(crate) fn release() -> Release {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml"))
        .unwrap()
        .release
}

pub(crate) fn record() -> Record {
    let release = release();
    let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
    record.objects = vec![(Stage::Edits, reference())];
    record
}

pub(crate) fn reference() -> Reference {
    Reference::of(&theirs(&json!([]))).unwrap()
}

pub(crate) fn targets(record: &Record) -> RouteTargets {
    record.route_targets("shop/shop")
}

/// As `kubectl apply` creates it.
pub(crate) fn theirs(http: &Value) -> Value {
    json!({
        "apiVersion": LIST,
        "kind": "VirtualService",
        "metadata": {"name": "by-hand", "namespace": "shop", "resourceVersion": "3", "managedFields": [
            owner("kubectl-client-side-apply", "Update", &["hosts", "gateways", "http"]),
        ]},
        "spec": {"hosts": ["shop.example.com"], "gateways": ["istio-ingress/shop"], "http": http},
    })
}

pub(crate) fn owner(manager: &str, operation: &str, fields: &[&str]) -> Value {
    let fields: serde_json::Map<_, _> = fields.iter().map(|name| (format!("f:{name}"), json!({}))).collect();
    json!({"manager": manager, "operation": operation, "apiVersion": LIST, "time": "2026-11-21T12:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}})
}

/// A server-side apply by us, as the API server carries it out where it is forced.
pub(crate) fn applied(seen: &Value, body: &Value) -> Value {
    let mut object = seen.clone();
    object["spec"]["http"] = body["spec"]["http"].clone();
    object["metadata"]["annotations"] = body["metadata"]["annotations"].clone();
    let fields = object["metadata"]["managedFields"].as_array_mut().unwrap();
    fields.retain(|entry| entry["manager"] != "canary-ctl");
    for entry in fields.iter_mut() {
        entry["fieldsV1"]["f:spec"].as_object_mut().unwrap().remove("f:http");
    }
    let mut ours = owner("canary-ctl", "Apply", &["http"]);
    ours["fieldsV1"]["f:metadata"] = json!({"f:annotations": {"f:canary-ctl.io/routes-taken-from": {}}});
    fields.push(ours);
    object
}

pub(crate) fn edited(seen: &Value, record: &Record) -> Value {
    let objects = edits(&targets(record), std::slice::from_ref(seen)).unwrap();
    applied(seen, &objects[0].body)
}

pub(crate) fn observed(seen: &Value) -> BTreeMap<Reference, Value> {
    BTreeMap::from([(reference(), seen.clone())])
}

/// What `uninstall` leaves: our fields applied where they change, then handed back.
pub(crate) fn given_back(seen: &Value, record: &Record) -> Value {
    let plan = removal(&targets(record), &observed(seen), &record.objects).unwrap();
    assert_eq!(plan.changes.len(), 1, "{plan:?}");
    let change = &plan.changes[0];
    assert_eq!(change.action, Action::Restore);
    let mut object = if change.fields.is_empty() { seen.clone() } else { applied(seen, &change.body) };
    let patch = restore_ownership(&object);
    assert_eq!(patch["metadata"]["resourceVersion"], "3");
    object["metadata"]["managedFields"] = patch["metadata"]["managedFields"].clone();
    for (name, value) in patch["metadata"]["annotations"].as_object().unwrap() {
        assert!(value.is_null(), "{name}: {value}");
        if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
            annotations.remove(name);
        }
    }
    if object["metadata"]["annotations"].as_object().is_some_and(serde_json::Map::is_empty) {
        object["metadata"].as_object_mut().unwrap().remove("annotations");
    }
    object
}

pub(crate) fn to(host: &str) -> Value {
    json!([{"destination": {"host": host}}])
}

/// A route with many settings.
pub(crate) fn demanding() -> Value {
    json!({
        "name": "checkout",
        "match": [
            {"uri": {"prefix": "/checkout"}, "headers": {"x-beta": {"exact": "1"}}},
            {"uri": {"prefix": "/pay"}, "method": {"exact": "POST"}},
        ],
        "rewrite": {"uri": "/"},
        "timeout": "3s",
        "retries": {"attempts": 2, "perTryTimeout": "1s"},
        "fault": {"delay": {"fixedDelay": "1s"}},
        "mirror": {"host": "audit"},
        "corsPolicy": {"allowMethods": ["GET"]},
        "headers": {"request": {"set": {"x-a": "b"}}},
        "route": [{"destination": {"host": "shop", "port": {"number": 80}}, "headers": {"response": {"remove": ["server"]}}}],
    })
}

/// `kubectl apply` of the owner's file: our routes are removed, and the owner owns the list.
pub(crate) fn reapplied(seen: &Value, http: &Value, manager: &str) -> Value {
    let mut object = seen.clone();
    object["spec"]["http"] = http.clone();
    let fields = object["metadata"]["managedFields"].as_array_mut().unwrap();
    for entry in fields.iter_mut() {
        entry["fieldsV1"]["f:spec"].as_object_mut().unwrap().remove("f:http");
    }
    fields.push(owner(manager, "Update", &["http"]));
    object
}
