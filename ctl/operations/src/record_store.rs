//! One ConfigMap for each release: its desired state and its history. Every write has the `resourceVersion` from which
//! it was computed.
//!
//! It is written whole and not by server-side apply: with apply, two concurrent first calls could both create it, and
//! the second would not notice the first.

use crate::Error;
use crate::client::ApiRequest;
use canary_release::ownership::FIELD_MANAGER;
use canary_release::record::{Record, TRAIN_LABEL};
use canary_release::spec::{ObjectMetadata, ReleaseName};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, Client};
use std::collections::BTreeMap;

/// The key under which the record stands.
pub(crate) const KEY: &str = "release.json";
/// The annotation that names the last write. Two clients may write equal records, so the record does not tell whose write it was.
const WRITE_ID: &str = "canary-ctl.io/write-id";

/// A record, and the object that it is kept in.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The record.
    pub record: Record,
    object: Option<ConfigMap>,
}

impl StoredRecord {
    /// A record that is nowhere yet.
    pub(crate) const fn new(record: Record) -> Self {
        Self { record, object: None }
    }

    /// The uid of its object.
    pub(crate) fn uid(&self) -> Option<&str> {
        self.object.as_ref()?.metadata.uid.as_deref()
    }

    /// The id of the write that made this version, unless it was written by hand or by an earlier release of the tool.
    fn write_id(&self) -> Option<&String> {
        self.object.as_ref()?.metadata.annotations.as_ref()?.get(WRITE_ID)
    }

    /// Whether both are the same version of the object.
    pub(crate) fn has_version_of(&self, other: &Self) -> bool {
        let version = |stored: &Self| stored.object.as_ref()?.metadata.resource_version.clone();
        version(self).is_some() && version(self) == version(other)
    }

    /// Whether it is on the cluster.
    pub const fn is_there(&self) -> bool {
        self.object.is_some()
    }
}

/// The records of a cluster's releases.
pub(crate) struct RecordStore {
    pub(crate) client: Client,
}

impl RecordStore {
    pub(crate) const fn new(client: Client) -> Self {
        Self { client }
    }

    /// The record of a release, if there is one. Fails if it was written by a newer tool.
    pub(crate) async fn find(&self, release: &ReleaseName) -> Result<Option<StoredRecord>, Error> {
        let found = self.config_maps(release).get_opt(&name(release)).await;
        let found = found.map_err(|error| request("get", release, &name(release)).error(error))?;
        let Some(object) = found else { return Ok(None) };
        let text = object.data.as_ref().and_then(|data| data.get(KEY)).map_or("", String::as_str);
        Ok(Some(StoredRecord { record: Record::parse(text)?, object: Some(object) }))
    }

    /// The same; fails if there is no record.
    pub(crate) async fn get(&self, release: &ReleaseName) -> Result<StoredRecord, Error> {
        match self.find(release).await? {
            Some(found) => Ok(found),
            None => Err(Error::Unknown { release: release.to_string(), known: self.names(release).await }),
        }
    }

    /// Fails if another client has written the record since this one was read or written.
    ///
    /// # Errors
    ///
    /// [`Error::ConcurrentChange`], and if the API server refuses or does not respond.
    pub(crate) async fn ensure_current(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(), Error> {
        let now = self.find(release).await?;
        if now.as_ref().is_some_and(|now| now.has_version_of(stored)) || now.is_none() && !stored.is_there() {
            return Ok(());
        }
        Err(concurrent_change(release, now))
    }

    /// Writes a record. Fails if another client has written it since it was read; the error names its user.
    pub(crate) async fn save(&self, release: &ReleaseName, stored: &mut StoredRecord) -> Result<(), Error> {
        let api = self.config_maps(release);
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let before = stored.object.clone().unwrap_or_else(|| empty(release));
        let mut object = with_metadata(before, &stored.record);
        object.data = Some(BTreeMap::from([(KEY.to_owned(), stored.record.to_json()?)]));
        let write_id = random_id();
        if let Some(id) = write_id.clone() {
            object.metadata.annotations.get_or_insert_default().insert(WRITE_ID.to_owned(), id);
        }
        let (verb, written) = if stored.is_there() {
            ("update", api.replace(&name(release), &how, &object).await)
        } else {
            ("create", api.create(&how, &object).await)
        };
        match written.map_err(|error| request(verb, release, &name(release)).error(error)) {
            Ok(object) => stored.object = Some(object),
            Err(Error::Stale { .. }) => match self.find(release).await? {
                // Ours, by a request whose response was lost.
                Some(now) if write_id.is_some() && now.write_id() == write_id.as_ref() => {
                    stored.object = now.object;
                }
                now => return Err(concurrent_change(release, now)),
            },
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Lets the API server validate a record that is not there yet, and discard it.
    pub(crate) async fn dry_run(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<(), Error> {
        if stored.is_there() {
            return Ok(());
        }
        let data = BTreeMap::from([(KEY.to_owned(), stored.record.to_json()?)]);
        let how = PostParams { dry_run: true, field_manager: Some(FIELD_MANAGER.to_owned()) };
        let object = ConfigMap { data: Some(data), ..with_metadata(empty(release), &stored.record) };
        let made = self.config_maps(release).create(&how, &object).await;
        made.map(drop).map_err(|error| request("create", release, &name(release)).error(error))
    }

    /// Deletes the record of a release. Fails if another client has changed it since it was read.
    pub(crate) async fn delete(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<(), Error> {
        let version = stored.object.as_ref().and_then(|object| object.metadata.resource_version.clone());
        let condition = Preconditions { resource_version: version, ..Preconditions::default() };
        let how = DeleteParams::default().preconditions(condition);
        let gone = self.config_maps(release).delete(&name(release), &how).await;
        match gone.map_err(|error| request("delete", release, &name(release)).error(error)) {
            Err(Error::Stale { .. }) => Err(concurrent_change(release, self.find(release).await?)),
            // Deleted by an earlier request whose response was lost.
            Err(Error::Refused { code: 404, .. }) => Ok(()),
            done => done.map(drop),
        }
    }

    fn config_maps(&self, release: &ReleaseName) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), release.namespace.as_str())
    }
}

fn concurrent_change(release: &ReleaseName, now: Option<StoredRecord>) -> Error {
    Error::ConcurrentChange { release: release.to_string(), last: now.and_then(|now| now.record.last()) }
}

fn name(release: &ReleaseName) -> String {
    format!("{}-canary", release.name)
}

fn empty(release: &ReleaseName) -> ConfigMap {
    let labels = BTreeMap::from([("app.kubernetes.io/managed-by".to_owned(), FIELD_MANAGER.to_owned())]);
    let metadata = ObjectMeta {
        name: Some(name(release)),
        namespace: Some(release.namespace.to_string()),
        labels: Some(labels),
        ..ObjectMeta::default()
    };
    ConfigMap { metadata, ..ConfigMap::default() }
}

/// The object with the labels and annotations of a record, and without those that only the record in it has.
fn with_metadata(mut object: ConfigMap, record: &Record) -> ConfigMap {
    let text = object.data.as_ref().and_then(|data| data.get(KEY));
    let before = text.and_then(|text| Record::parse(text).ok());
    let before = before.as_ref().map(own_metadata).unwrap_or_default();
    let ObjectMetadata { labels, annotations } = own_metadata(record);
    exchange(&mut object.metadata.labels, &before.labels, labels);
    exchange(&mut object.metadata.annotations, &before.annotations, annotations);
    object
}

/// What the file says, and the train by which other releases find the record.
fn own_metadata(record: &Record) -> ObjectMetadata {
    let mut metadata = (*record.metadata).clone();
    metadata.labels.extend(record.train.iter().map(|train| (TRAIN_LABEL.to_owned(), train.name.clone())));
    metadata
}

/// 16 hexadecimal digits. None if the system has no randomness: then a write whose response was lost counts as another client's.
fn random_id() -> Option<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

fn exchange(
    all: &mut Option<BTreeMap<String, String>>,
    before: &BTreeMap<String, String>,
    after: BTreeMap<String, String>,
) {
    let mut pairs = all.take().unwrap_or_default();
    pairs.retain(|name, _| !before.contains_key(name));
    pairs.extend(after);
    *all = Some(pairs).filter(|pairs| !pairs.is_empty());
}

fn request<'a>(verb: &'static str, release: &'a ReleaseName, name: &'a str) -> ApiRequest<'a> {
    ApiRequest { verb, resource: "configmaps", group: "", namespace: release.namespace.as_str(), name }
}
