//! The objects of a release, as they are written and as the API server gives them back.

use canary_release::EmbeddedModule;
use canary_release::config::SigningKeys;
use canary_release::file::load;
use canary_release::manifest::{Options, ReleaseInstance, manifests};
use canary_release::object::{Object, Reference, Stage};
use canary_release::plan::{Action, Plan};
use canary_release::record::OwnedObject;
use canary_release::spec::Release;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// It embeds a module without content.
pub(crate) fn release() -> Release {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
    let mut release = load(&example).unwrap().release;
    release.delivery.module.embed(EmbeddedModule::new(b"\0asm").as_ref());
    release
}

/// The same each time: two calls have to make the same objects.
fn keys() -> SigningKeys {
    serde_json::from_value(
        json!({"keys": [{"id": "k1", "key": "00112233445566778899aabbccddeeff", "use": "sign"}]}),
    )
    .unwrap()
}

pub(crate) fn objects(member: ReleaseInstance<'_>) -> Vec<Object> {
    let (keys, held) = (keys(), BTreeMap::new());
    let options = Options { keys: &keys, show_keys: true, held: &held, resource_names: &BTreeMap::new() };
    let manifests = manifests(&[member], options).unwrap();
    manifests.iter().filter_map(|manifest| Object::of(manifest).unwrap()).collect()
}

pub(crate) fn kept(objects: &[Object]) -> Vec<OwnedObject> {
    objects.iter().map(|object| (object.stage, object.reference.clone())).collect()
}

/// The objects as the API server gives them back when we have applied them.
pub(crate) fn applied(objects: &[Object]) -> BTreeMap<Reference, Value> {
    let given = |object: &Object| {
        let mut body = object.body.clone();
        body["metadata"]["resourceVersion"] = json!("7");
        body["metadata"]["managedFields"] =
            json!([{"manager": "canary-ctl", "fieldsV1": {"f:metadata": {"f:labels": {}}, "f:spec": {}}}]);
        (object.reference.clone(), body)
    };
    objects.iter().map(given).collect()
}

pub(crate) fn stages(plan: &Plan) -> Vec<(Stage, Action)> {
    plan.changes.iter().map(|change| (change.stage, change.action)).collect()
}
