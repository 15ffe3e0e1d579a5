//! A record that may be obeyed, and what its object was when it was read.

use crate::Error;
use canary_release::delivery::deployed_config;
use canary_release::object::{Reference, Stage};
use canary_release::record::{Record, RecordFault, RecordTrust};
use canary_release::spec::ReleaseName;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A record that may be obeyed, and the object that it is kept in: one whose seals are genuine, or one that was read back from the objects of the
/// release.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The record.
    pub record: Record,
    pub(crate) object: Option<ConfigMap>,
    trust: RecordTrust,
    unsaved: Option<String>,
    /// Whether an operation goes on where objects of the release are missing.
    is_emergency: bool,
    /// The generation of the record as it was read or written: the objects are not newer.
    generation: u64,
}

/// The record of a release as it was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FoundRecord {
    /// Its seals are genuine, and it is not older than the objects.
    Genuine(Box<StoredRecord>),
    /// It is not obeyed.
    Refused(Box<ConfigMap>, RecordFault),
}

impl StoredRecord {
    /// A record that is nowhere yet.
    pub(crate) const fn new(record: Record) -> Self {
        let generation = record.state.generation;
        Self {
            record,
            object: None,
            trust: RecordTrust::Absent,
            unsaved: None,
            is_emergency: false,
            generation,
        }
    }

    /// A record whose seals are genuine.
    pub(crate) fn genuine(record: Record, object: ConfigMap) -> Self {
        Self { object: Some(object), trust: RecordTrust::Genuine, ..Self::new(record) }
    }

    /// The same, not to be obeyed for this reason.
    pub(crate) fn refused(self, fault: RecordFault) -> FoundRecord {
        FoundRecord::Refused(Box::new(self.object.unwrap_or_default()), fault)
    }

    /// The object that it was written into: the record on the cluster is this one.
    pub(crate) fn set_saved(&mut self, object: ConfigMap) {
        self.object = Some(object);
        self.trust = RecordTrust::Genuine;
        self.generation = self.record.state.generation;
    }

    /// A record that was read back, and replaces one that is not obeyed.
    pub(crate) fn in_place_of(record: Record, object: ConfigMap, fault: RecordFault) -> Self {
        Self { object: Some(object), trust: RecordTrust::Refused(fault), ..Self::new(record) }
    }

    /// A record whose seals could not be checked. It is written nowhere.
    pub(crate) fn unverified(record: Record, reason: String) -> Self {
        let unsaved = Some(reason.clone());
        Self { trust: RecordTrust::Unverified(reason), unsaved, ..Self::new(record) }
    }

    /// The uid of its object.
    pub(crate) fn uid(&self) -> Option<&str> {
        self.object.as_ref()?.metadata.uid.as_deref()
    }

    /// Whether both are the same version of the object.
    pub(crate) fn has_version_of(&self, other: &Self) -> bool {
        let version = |stored: &Self| stored.object.as_ref()?.metadata.resource_version.clone();
        version(self).is_some() && version(self) == version(other)
    }

    /// Whether it is on the cluster; not if it was read back from the objects.
    pub fn is_there(&self) -> bool {
        self.trust == RecordTrust::Genuine
    }

    /// Fails if the record on the cluster is not obeyed: only emergencies act in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Untrusted`].
    pub(crate) fn ensure_trusted(&self, release: &ReleaseName) -> Result<(), Error> {
        match &self.trust {
            RecordTrust::Refused(fault) => {
                Err(Error::Untrusted { release: release.clone(), fault: fault.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Its origin.
    pub const fn trust(&self) -> &RecordTrust {
        &self.trust
    }

    /// The reason for which an emergency went on without writing it. The record on the cluster is older than the objects since, and is not obeyed.
    pub fn unsaved(&self) -> Option<&str> {
        self.unsaved.as_deref()
    }

    /// Compares it with the configurations of its proxies.
    ///
    /// # Errors
    ///
    /// If they are newer than the record was when it was read or written: it was put back.
    pub(crate) fn check_against<'o>(
        &self,
        release: &ReleaseName,
        observed: impl IntoIterator<Item = (&'o Reference, &'o Value)>,
    ) -> Result<(), RecordFault> {
        let generation = if self.unsaved.is_some() { self.record.state.generation } else { self.generation };
        self.record.check_against(release, generation, observed)
    }

    /// Lets an operation go on where objects of the release are missing: it takes users off a version, and what does not exist sends none there.
    pub(crate) const fn begin_emergency(&mut self) {
        self.is_emergency = true;
    }

    /// The record with the objects that an operation changes: in an emergency those that exist and hold the release.
    pub(crate) fn changeable<'r>(
        &'r self,
        release: &ReleaseName,
        observed: &BTreeMap<Reference, Value>,
    ) -> Cow<'r, Record> {
        if !self.is_emergency {
            return Cow::Borrowed(&self.record);
        }
        let release = release.to_string();
        // What cannot be read may still be what proxies go by: it stays, and is an error.
        let is_without = |body: &Value| match deployed_config(body) {
            Ok(config) => config.is_none_or(|config| !config.releases.contains_key(&release)),
            Err(_) => false,
        };
        let mut record = self.record.clone();
        record.objects.retain(|(stage, object)| {
            observed.get(object).is_some_and(|body| *stage != Stage::Configuration || !is_without(body))
        });
        Cow::Owned(record)
    }

    /// Lets an emergency go on without writing the record, which failed for this reason.
    pub(crate) fn go_on_unsaved(&mut self, reason: String) {
        self.unsaved = Some(reason);
    }
}
