//! One ConfigMap for each release: its desired state and its history. Every write has the `resourceVersion` from which
//! it was computed.
//!
//! It is written whole and not by server-side apply: with apply, two concurrent first calls could both create it, and
//! the second would not notice the first.

use crate::Error;
use crate::client::backoff::{MAX_CONFLICTS, backoff};
use crate::client::{ApiClient, ApiRequest};
use crate::stores::record_key_store::RecordKeyStore;
use crate::stores::releases::FoundObject;
use crate::stores::sealed_record::{sealed, sealing_namespaces, seals};
use crate::stores::stored_record::{FoundRecord, StoredRecord};
use canary_release::object::FIELD_MANAGER;
use canary_release::record::{Record, RecordFault, RecordSeals, SealContext};
use canary_release::spec::{ObjectMetadata, ReleaseName};
use canary_release::state::TRAIN_LABEL;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, Client};
use std::collections::BTreeMap;

/// The key under which the record stands.
pub(crate) const KEY: &str = "release.json";
/// The annotation that names the last write. Two clients may write equal records, so the record does not tell whose write it was.
const WRITE_ID: &str = "canary-ctl.io/write-id";

/// The key under which its seals are.
pub(crate) const SEALS: &str = "seals.json";

/// The records of a cluster's releases.
pub(crate) struct RecordStore {
    pub(crate) client: Client,
    pub(crate) keys: RecordKeyStore,
    objects: ApiClient,
    /// The address of the API server, for messages.
    server: String,
}

impl RecordStore {
    pub(crate) const fn new(
        client: Client,
        keys: RecordKeyStore,
        objects: ApiClient,
        server: String,
    ) -> Self {
        Self { client, keys, objects, server }
    }

    /// The error of a release that has no record.
    pub(crate) async fn unknown(&self, release: &ReleaseName) -> Error {
        let known = self.names(release).await;
        Error::Unknown { release: release.to_string(), server: self.server.clone(), known }
    }

    /// The record of a release, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Untrusted`] if it is not to be obeyed.
    pub(crate) async fn find(&self, release: &ReleaseName) -> Result<Option<StoredRecord>, Error> {
        match self.observe(release).await? {
            None => Ok(None),
            Some(FoundRecord::Genuine(stored)) => Ok(Some(*stored)),
            Some(FoundRecord::Refused(_, fault)) => Err(untrusted(release, fault)),
        }
    }

    /// The record of a release, genuine or refused. Record and objects are read one after the other: where a writer comes between, both are read
    /// again, because its objects are newer than the record that was read.
    pub(crate) async fn observe(&self, release: &ReleaseName) -> Result<Option<FoundRecord>, Error> {
        let mut attempt = 0;
        loop {
            let stored = match self.observe_sealed(release).await? {
                Some(FoundRecord::Genuine(stored)) => stored,
                found => return Ok(found),
            };
            let observed = self.objects.get_all(stored.record.config_objects()).await?;
            let Err(fault) = stored.check_against(release, &observed) else {
                return Ok(Some(FoundRecord::Genuine(stored)));
            };
            match self.ensure_current(release, &stored).await {
                Err(Error::ConcurrentChange { .. }) if attempt < MAX_CONFLICTS => attempt += 1,
                _ => return Ok(Some(stored.refused(fault))),
            }
        }
    }

    /// The same without a look at the objects: whatever is written to them is compared with them.
    async fn observe_sealed(&self, release: &ReleaseName) -> Result<Option<FoundRecord>, Error> {
        let Some(object) = self.read(release).await? else { return Ok(None) };
        let objects = vec![(release.clone(), object)];
        let keys = self.keys.find(&sealing_namespaces(&objects)).await?;
        Ok(sealed(objects, &keys).into_iter().next().map(|(_, found)| found))
    }

    /// A record whose seals are genuine, for a driver, which reads it again and again.
    pub(crate) async fn get_sealed(&self, release: &ReleaseName) -> Result<StoredRecord, Error> {
        match self.observe_sealed(release).await? {
            Some(FoundRecord::Genuine(stored)) => Ok(*stored),
            Some(FoundRecord::Refused(_, fault)) => Err(untrusted(release, fault)),
            None => Err(self.unknown(release).await),
        }
    }

    /// Whether the seals of each of these records are genuine. The keys of a namespace are read once; one whose keys may not be read is not.
    pub(crate) async fn all_sealed(
        &self,
        objects: Vec<FoundObject>,
    ) -> Result<Vec<(ReleaseName, FoundRecord)>, Error> {
        let keys = self.keys.find_readable(&sealing_namespaces(&objects)).await?;
        Ok(sealed(objects, &keys))
    }

    /// The record as it is written there, its seals unchecked: for what is shown, and for questions whose answer only holds something up.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(crate) async fn find_unverified(&self, release: &ReleaseName) -> Result<Option<Record>, Error> {
        let object = self.read(release).await?;
        let text = object.as_ref().and_then(|object| object.data.as_ref()?.get(KEY));
        Ok(text.map(|text| Record::parse(release, text)).transpose()?)
    }

    /// The record of a release.
    ///
    /// # Errors
    ///
    /// If there is none, and as [`find`](Self::find).
    pub(crate) async fn get(&self, release: &ReleaseName) -> Result<StoredRecord, Error> {
        match self.find(release).await? {
            Some(found) => Ok(found),
            None => Err(self.unknown(release).await),
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
        if stored.unsaved().is_some() {
            return Ok(());
        }
        let now = self.read(release).await?;
        let version = |object: &ConfigMap| object.metadata.resource_version.clone();
        let is_current = match (&now, &stored.object) {
            (Some(now), Some(object)) => version(now).is_some() && version(now) == version(object),
            (now, None) => now.as_ref().is_none_or(is_empty),
            (None, Some(_)) => false,
        };
        if is_current { Ok(()) } else { Err(concurrent_change(release, now.as_ref())) }
    }

    /// Seals and writes a record. Fails if another client has written it since it was read; the error names its user.
    /// Does nothing for an emergency that goes on without it.
    pub(crate) async fn save(&self, release: &ReleaseName, stored: &mut StoredRecord) -> Result<(), Error> {
        if stored.unsaved().is_some() {
            return Ok(());
        }
        let namespaces = stored.record.sealing_namespaces(release);
        let keys = self.keys.find_or_create(&namespaces, &stored.record.metadata).await?;
        let before = self.writable(release, stored.object.clone()).await?;
        let text = stored.record.to_json()?;
        let context = SealContext { release, uid: before.metadata.uid.as_deref().unwrap_or_default() };
        let seals = RecordSeals::of(&text, context, &keys, &namespaces);
        let seals = seals.map_err(|fault| untrusted(release, fault))?;
        let mut object = with_metadata(release, before, &stored.record);
        let seals = serde_json::to_string(&seals)
            .map_err(|error| canary_release::record::Error::NoRecord(error.to_string()))?;
        object.data = Some(BTreeMap::from([(KEY.to_owned(), text), (SEALS.to_owned(), seals)]));
        self.replace(release, stored, object).await
    }

    /// Writes an object. One that is answered with 409 although no client has written it is sent again.
    async fn replace(
        &self,
        release: &ReleaseName,
        stored: &mut StoredRecord,
        mut object: ConfigMap,
    ) -> Result<(), Error> {
        let write_id = random_id();
        if let Some(id) = write_id.clone() {
            object.metadata.annotations.get_or_insert_default().insert(WRITE_ID.to_owned(), id);
        }
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        for attempt in 0..MAX_CONFLICTS {
            let written = self.config_maps(release).replace(&name(release), &how, &object).await;
            match written.map_err(|error| request("update", release, &name(release)).error(error)) {
                Err(Error::Stale { .. }) => {}
                written => return written.map(|object| stored.set_saved(object)),
            }
            match self.read(release).await? {
                // Ours, by a request whose response was lost.
                Some(now) if write_id.is_some() && self::write_id(&now) == write_id.as_ref() => {
                    stored.set_saved(now);
                    return Ok(());
                }
                Some(now) if now.metadata.resource_version == object.metadata.resource_version => {}
                now => return Err(concurrent_change(release, now.as_ref())),
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(concurrent_change(release, None))
    }

    /// Seals a genuine record with the newest keys, if older ones have sealed it.
    ///
    /// # Errors
    ///
    /// If another client writes it at the same moment, or the API server refuses.
    pub(crate) async fn reseal(&self, release: &ReleaseName) -> Result<(), Error> {
        let Some(FoundRecord::Genuine(mut stored)) = self.observe(release).await? else { return Ok(()) };
        let keys = self.keys.find(&stored.record.sealing_namespaces(release)).await?;
        let is_current = stored.object.as_ref().is_some_and(|object| seals(object).are_current(&keys));
        if is_current { Ok(()) } else { self.save(release, &mut stored).await }
    }

    /// The object that a record is written into. Its uid is under the seals, so a new one is created without a record first.
    async fn writable(&self, release: &ReleaseName, before: Option<ConfigMap>) -> Result<ConfigMap, Error> {
        if let Some(object) = &before
            && object.immutable == Some(true)
        {
            // Whoever may write it may have made it so; it can be replaced alone.
            self.delete_object(release, object).await?;
        } else if let Some(object) = before {
            return Ok(object);
        }
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let created = self.config_maps(release).create(&how, &empty(release)).await;
        match created.map_err(|error| request("create", release, &name(release)).error(error)) {
            // An earlier call was interrupted before it wrote the record, or the response of this one was lost.
            Err(Error::Stale { .. }) => match self.read(release).await? {
                Some(now) if is_empty(&now) => Ok(now),
                now => Err(concurrent_change(release, now.as_ref())),
            },
            created => created,
        }
    }

    /// Lets the API server validate a record that is not there yet, and the keys that it needs, and discard them.
    pub(crate) async fn dry_run(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<(), Error> {
        self.keys.dry_run(&stored.record.sealing_namespaces(release), &stored.record.metadata).await?;
        if stored.is_there() {
            return Ok(());
        }
        let data = BTreeMap::from([(KEY.to_owned(), stored.record.to_json()?)]);
        let how = PostParams { dry_run: true, field_manager: Some(FIELD_MANAGER.to_owned()) };
        let object = with_metadata(release, empty(release), &stored.record);
        let made = self.config_maps(release).create(&how, &ConfigMap { data: Some(data), ..object }).await;
        match made.map_err(|error| request("create", release, &name(release)).error(error)) {
            // One that is empty or not obeyed.
            Err(Error::Stale { .. }) => Ok(()),
            made => made.map(drop),
        }
    }

    /// Lets the API server validate the next write of a record, and discard it.
    pub(crate) async fn dry_run_update(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(), Error> {
        let Some(before) = stored.object.clone() else { return self.dry_run(release, stored).await };
        let mut object = with_metadata(release, before, &stored.record);
        object.data.get_or_insert_default().insert(KEY.to_owned(), stored.record.to_json()?);
        let how = PostParams { dry_run: true, field_manager: Some(FIELD_MANAGER.to_owned()) };
        let made = self.config_maps(release).replace(&name(release), &how, &object).await;
        made.map(drop).map_err(|error| request("update", release, &name(release)).error(error))
    }

    async fn read(&self, release: &ReleaseName) -> Result<Option<ConfigMap>, Error> {
        let found = self.config_maps(release).get_opt(&name(release)).await;
        found.map_err(|error| request("get", release, &name(release)).error(error))
    }

    async fn delete_object(&self, release: &ReleaseName, object: &ConfigMap) -> Result<(), Error> {
        let version = object.metadata.resource_version.clone();
        let condition = Preconditions { resource_version: version, ..Preconditions::default() };
        let how = DeleteParams::default().preconditions(condition);
        let gone = self.config_maps(release).delete(&name(release), &how).await;
        gone.map(drop).map_err(|error| request("delete", release, &name(release)).error(error))
    }

    /// Deletes the record of a release. Fails if another client has changed it since it was read.
    pub(crate) async fn delete(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<(), Error> {
        let Some(object) = stored.object.as_ref() else { return Ok(()) };
        let mut object = object.clone();
        if stored.unsaved().is_some() {
            object.metadata.resource_version = None;
        }
        match self.delete_object(release, &object).await {
            Err(Error::Stale { .. }) => Err(concurrent_change(release, self.read(release).await?.as_ref())),
            // Deleted by an earlier request whose response was lost.
            Err(Error::Refused { code: 404, .. }) => Ok(()),
            done => done,
        }
    }

    fn config_maps(&self, release: &ReleaseName) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), release.namespace.as_str())
    }
}

/// The last change is reported as it is written there: nothing follows from it.
fn concurrent_change(release: &ReleaseName, now: Option<&ConfigMap>) -> Error {
    let text = now.and_then(|now| now.data.as_ref()?.get(KEY));
    let record = text.and_then(|text| Record::parse(release, text).ok());
    Error::ConcurrentChange { release: release.to_string(), last: record.and_then(|record| record.last()) }
}

fn untrusted(release: &ReleaseName, fault: RecordFault) -> Error {
    Error::Untrusted { release: release.clone(), fault }
}

pub(crate) fn is_empty(object: &ConfigMap) -> bool {
    object.data.as_ref().is_none_or(|data| !data.contains_key(KEY))
}

fn write_id(object: &ConfigMap) -> Option<&String> {
    object.metadata.annotations.as_ref()?.get(WRITE_ID)
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
fn with_metadata(release: &ReleaseName, mut object: ConfigMap, record: &Record) -> ConfigMap {
    let text = object.data.as_ref().and_then(|data| data.get(KEY));
    let before = text.and_then(|text| Record::parse(release, text).ok());
    let before = before.as_ref().map(own_metadata).unwrap_or_default();
    let ObjectMetadata { labels, annotations } = own_metadata(record);
    exchange(&mut object.metadata.labels, &before.labels, labels);
    exchange(&mut object.metadata.annotations, &before.annotations, annotations);
    object
}

/// The metadata of the file, and the train by which other releases find the record.
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
