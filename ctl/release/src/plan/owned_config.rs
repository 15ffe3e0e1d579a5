//! The part of an object that a weight writes: the fields that we own, and the configuration, even if another field
//! manager wrote it last. Without the configuration a weight would be reported as written although no object has it.

use super::{Change, Error, MissingObject, Plan};
use crate::delivery::{MissingModule, deployed_config, owned_config, with_deployed_config};
use crate::object::{Object, Reference, Stage, applicable, merge};
use crate::record::Record;
use assignment::contract::ReleaseConfig;
use serde_json::Value;
use std::collections::BTreeMap;

/// The plan that changes a release's `entry` in every configuration that we have written for it, and the `module` that the
/// object names beside it.
///
/// Fails if an object does not exist or does not contain the release: `apply` was not completed. Fails if the bytes of a module
/// are missing.
pub(super) fn rewritten(
    release: &str,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
    entry: impl Fn(&mut ReleaseConfig),
    module: impl Fn(&Reference, Value) -> Result<Value, MissingModule>,
) -> Result<Plan, Error> {
    let mut changes = Vec::new();
    for reference in record.config_objects() {
        let missing =
            |found| Error::NotCarried { release: release.to_owned(), object: reference.to_string(), found };
        let kept = (Stage::Configuration, reference);
        let gone = || Box::new(MissingObject::of(release, record, kept, observed));
        let seen = observed.get(reference).ok_or_else(gone)?;
        let mut config = deployed_config(seen)?.ok_or_else(|| missing("no configuration"))?;
        entry(config.releases.get_mut(release).ok_or_else(|| missing("other releases only"))?);
        let body = module(reference, with_deployed_config(seen, &config)?)?;
        let body = carrying(&body, release);
        let desired = Object { reference: reference.clone(), stage: Stage::Configuration, body };
        changes.extend(Change::between(&desired, Some(seen)));
    }
    Ok(Plan { changes, ..Plan::default() })
}

/// The part of an object that is applied again, with all that carries a release in it.
pub(super) fn carrying(object: &Value, release: &str) -> Value {
    let mut body = applicable(object);
    merge(&mut body, owned_config(object, release));
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_our_fields_of_a_configuration_are_written_after_a_write_of_another_client() {
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
}
