//! What of an object a weight writes: the part that is ours, and the configuration, whoever has written that last. Without
//! it a weight would be written nowhere, and said to be done.

use super::config_update::applicable;
use super::ownership::merge;
use super::{Change, Error, Object, Plan, Record, Reference};
use crate::manifest::{Stage, held_configuration, with_configuration};
use assignment::contract::ReleaseConfig;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The plan that changes a release's `entry` in every configuration that we have written for it, and the `module` that the
/// object names beside it.
///
/// Fails where an object is not there or does not know the release: `apply` did not come to its end.
pub(super) fn rewritten(
    release: &str,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
    entry: impl Fn(&mut ReleaseConfig),
    module: impl Fn(&Reference, Value) -> Value,
) -> Result<Plan, Error> {
    let mut changes = Vec::new();
    for reference in record.config_objects() {
        let missing =
            |found| Error::NotCarried { release: release.to_owned(), object: reference.to_string(), found };
        let seen = observed.get(reference).ok_or_else(|| missing("no such object"))?;
        let mut config = held_configuration(seen)?.ok_or_else(|| missing("no configuration"))?;
        entry(config.releases.get_mut(release).ok_or_else(|| missing("other releases only"))?);
        let body = module(reference, with_configuration(seen, &config)?);
        let body = carrying(&body, release);
        let desired = Object { reference: reference.clone(), stage: Stage::Configuration, body };
        changes.extend(Change::between(&desired, Some(seen)));
    }
    Ok(Plan { changes, ..Plan::default() })
}

/// The part of an object that is applied again, with all that carries a release in it.
pub(super) fn carrying(object: &Value, release: &str) -> Value {
    let mut body = applicable(object);
    if let Some(patches) = object.pointer("/spec/configPatches") {
        merge(&mut body, json!({"spec": {"configPatches": patches}}));
    }
    // Here each release may have another owner.
    let entry = |path: &str| object.pointer(path)?.get("releases")?.get(release);
    if let Some(entry) = entry("/spec/pluginConfig") {
        merge(&mut body, json!({"spec": {"pluginConfig": {"releases": {release: entry}}}}));
    }
    if let Some(entry) = entry("/spec/wasm/pluginConfig") {
        merge(&mut body, json!({"spec": {"wasm": {"pluginConfig": {"releases": {release: entry}}}}}));
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_written_again_whoever_has_written_it_last() {
        let object = json!({
            "metadata": {"name": "a", "managedFields": [
                {"manager": "canary-ctl", "fieldsV1": {"f:spec": {"f:workloadSelector": {}}}},
                {"manager": "kubectl", "fieldsV1": {"f:spec": {"f:configPatches": {}, "f:priority": {}}}},
            ]},
            "spec": {"configPatches": [1], "priority": 7, "workloadSelector": {"labels": {"a": "b"}}},
        });
        let spec = json!({"configPatches": [1], "workloadSelector": {"labels": {"a": "b"}}});
        assert_eq!(carrying(&object, "shop/shop")["spec"], spec);
    }

    #[test]
    fn where_each_release_has_an_owner_only_its_own_is_written() {
        let object = json!({"spec": {"pluginConfig": {"releases": {"shop/shop": 1, "blog/blog": 2}}}});
        let spec = json!({"pluginConfig": {"releases": {"shop/shop": 1}}});
        assert_eq!(carrying(&object, "shop/shop")["spec"], spec);
    }
}
