//! The embedded modules that a module rollout replaces, in a ConfigMap of their own until every proxy runs the new one: the
//! record names them by their digests, and the objects contain the new one by then.

use super::{Action, Change, ChangeReason};
use crate::delivery::{ModuleContents, ModuleSource, module_backup};
use crate::object::{FIELD_MANAGER, Reference, Stage};
use crate::record::Record;
use crate::spec::{MANAGED_BY, ReleaseName};
use serde_json::{Value, json};

/// The write that keeps the embedded modules of the rollout's old state; `None` if there are none. The record owns the
/// object from then on.
pub fn back_up_modules(
    record: &mut Record,
    release: &ReleaseName,
    contents: &ModuleContents,
) -> Option<Change> {
    let rollout = record.module_rollout.as_ref()?;
    let old: Vec<_> = rollout.old_modules().filter_map(ModuleSource::embedded).collect();
    let data = contents.binary_data(old.iter().map(|digest| digest.sha256.as_str()));
    if data.is_empty() {
        return None;
    }
    let object = module_backup(release);
    record.objects.retain(|(stage, _)| *stage != Stage::ModuleBackup);
    record.objects.push((Stage::ModuleBackup, object.clone()));
    let mut labels = record.metadata.labels.clone();
    labels.insert(MANAGED_BY.to_owned(), FIELD_MANAGER.to_owned());
    let mut metadata = json!({"name": object.name, "namespace": object.namespace, "labels": labels});
    if let Some(metadata) = metadata.as_object_mut().filter(|_| !record.metadata.annotations.is_empty()) {
        metadata.insert("annotations".to_owned(), json!(record.metadata.annotations));
    }
    let body = json!({
        "apiVersion": object.api_version,
        "kind": object.kind,
        "metadata": metadata,
        "binaryData": data,
    });
    Some(change(object, Action::Create, ChangeReason::Missing, body))
}

/// The write that deletes it; `None` if there is none. The record does not own the object any more.
pub fn drop_module_backup(record: &mut Record) -> Option<Change> {
    let is_backup = |(stage, _): &(Stage, Reference)| *stage == Stage::ModuleBackup;
    let place = record.objects.iter().position(is_backup)?;
    let (_, object) = record.objects.remove(place);
    Some(change(object, Action::Delete, ChangeReason::Leaving, Value::Null))
}

fn change(object: Reference, action: Action, why: ChangeReason, body: Value) -> Change {
    Change {
        stage: Stage::ModuleBackup,
        object,
        action,
        why,
        fields: Vec::new(),
        body,
        seen: None,
        claim: None,
    }
}
