//! Reads records from their objects: whether the seals of each are genuine.

use crate::stores::record_store::{KEY, SEALS, is_empty};
use crate::stores::releases::FoundObject;
use crate::stores::stored_record::{FoundRecord, StoredRecord};
use canary_release::record::{self, Record, RecordFault, RecordKeys, RecordSeals, SealContext};
use canary_release::spec::ReleaseName;
use k8s_openapi::api::core::v1::ConfigMap;
use std::collections::{BTreeMap, BTreeSet};

/// The namespaces whose keys are needed: nothing is read in one that a record names and that has not sealed it.
pub(crate) fn sealing_namespaces(objects: &[FoundObject]) -> BTreeSet<String> {
    let of = |(name, object): &FoundObject| Some(read_sealed(name, object).ok()?.sealing_namespaces(name));
    objects.iter().filter_map(of).flatten().collect()
}

/// Whether the seals of each record are genuine. An object without a record is left by a first write that was interrupted.
pub(crate) fn sealed(
    objects: Vec<FoundObject>,
    keys: &BTreeMap<String, RecordKeys>,
) -> Vec<(ReleaseName, FoundRecord)> {
    let verified = |name: &ReleaseName, object: &ConfigMap| {
        let record = read_sealed(name, object)?;
        let text = object.data.as_ref().and_then(|data| data.get(KEY)).map_or("", String::as_str);
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let (context, namespaces) = (SealContext { release: name, uid }, record.sealing_namespaces(name));
        seals(object).verify(text, context, keys, &namespaces)?;
        Ok(record)
    };
    let found = objects.into_iter().filter(|(_, object)| !is_empty(object)).map(|(name, object)| {
        let found = match verified(&name, &object) {
            Ok(record) => FoundRecord::Genuine(Box::new(StoredRecord::genuine(record, object))),
            Err(fault) => FoundRecord::Refused(Box::new(object), fault),
        };
        (name, found)
    });
    found.collect()
}

/// The record in an object, if each namespace in which it decides has sealed it; the seals are not checked.
fn read_sealed(release: &ReleaseName, object: &ConfigMap) -> Result<Record, RecordFault> {
    let text = object.data.as_ref().and_then(|data| data.get(KEY)).map_or("", String::as_str);
    let record = Record::parse(release, text).map_err(malformed)?;
    match seals(object).missing(&record.sealing_namespaces(release)) {
        Some(namespace) => Err(RecordFault::Unsealed { namespace }),
        None => Ok(record),
    }
}

/// None that are genuine where they have another form.
pub(crate) fn seals(object: &ConfigMap) -> RecordSeals {
    let seals = object.data.as_ref().and_then(|data| serde_json::from_str(data.get(SEALS)?).ok());
    seals.unwrap_or_default()
}

fn malformed(error: record::Error) -> RecordFault {
    match error {
        record::Error::NoRecord(found) => RecordFault::Malformed(found),
        other => RecordFault::Malformed(other.to_string()),
    }
}
