//! One ConfigMap for each release: what it is asked to be, and who did what. Every write says what it was worked out from.
//!
//! It is written whole and not by server-side apply, because apply would let two first calls make it one after the other,
//! the second without knowing of the first.

use super::refusal::Attempt;
use super::{Cluster, Error};
use crate::plan::{FIELD_MANAGER, Record};
use crate::spec::ReleaseName;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::{DeleteParams, PostParams, Preconditions};
use std::collections::BTreeMap;

/// The key under which the record stands.
const KEY: &str = "release.json";

/// A record, and the object that it is kept in.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The record.
    pub record: Record,
    object: Option<ConfigMap>,
}

impl StoredRecord {
    /// A record that is nowhere yet.
    pub(super) const fn new(record: Record) -> Self {
        Self { record, object: None }
    }

    /// Whether it is on the cluster.
    pub const fn is_there(&self) -> bool {
        self.object.is_some()
    }
}

impl Cluster {
    /// What is kept of a release. Fails where it was written by a newer tool.
    pub async fn find_record(&self, release: &ReleaseName) -> Result<Option<StoredRecord>, Error> {
        let found = self.config_maps(release).get_opt(&name(release)).await;
        let found = found.map_err(|error| attempt("get", release, &name(release)).refused(error))?;
        let Some(object) = found else { return Ok(None) };
        let text = object.data.as_ref().and_then(|data| data.get(KEY)).map_or("", String::as_str);
        Ok(Some(StoredRecord { record: Record::parse(text)?, object: Some(object) }))
    }

    /// The same; fails where the release is not there.
    pub async fn get_record(&self, release: &ReleaseName) -> Result<StoredRecord, Error> {
        let unknown = || Error::Unknown { release: release.to_string() };
        self.find_record(release).await?.ok_or_else(unknown)
    }

    /// Fails where somebody else has written the record since this one was read or written.
    pub(super) async fn ensure_current(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(), Error> {
        let version = |object: &ConfigMap| object.metadata.resource_version.clone();
        let now = self.find_record(release).await?;
        let is = now.as_ref().and_then(|now| now.object.as_ref()).and_then(version);
        if is == stored.object.as_ref().and_then(version) {
            return Ok(());
        }
        Err(concurrent_change(release, now))
    }

    /// Keeps a record. Fails where somebody else has written one since this one was read, and says who.
    pub(super) async fn save_record(
        &self,
        release: &ReleaseName,
        stored: &mut StoredRecord,
    ) -> Result<(), Error> {
        self.count_write()?;
        let data = BTreeMap::from([(KEY.to_owned(), stored.record.to_json()?)]);
        let api = self.config_maps(release);
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let (verb, written) = match stored.object.clone() {
            None => ("create", api.create(&how, &ConfigMap { data: Some(data), ..empty(release) }).await),
            Some(before) => {
                let object = ConfigMap { data: Some(data), ..before };
                ("update", api.replace(&name(release), &how, &object).await)
            }
        };
        match written.map_err(|error| attempt(verb, release, &name(release)).refused(error)) {
            Ok(object) => stored.object = Some(object),
            Err(Error::Stale { .. }) => match self.find_record(release).await? {
                // Ours, by an attempt whose answer was lost.
                Some(now) if now.record == stored.record => stored.object = now.object,
                now => return Err(concurrent_change(release, now)),
            },
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Forgets a release. Fails where somebody else has changed it since it was read.
    pub(super) async fn delete_record(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(), Error> {
        self.count_write()?;
        let version = stored.object.as_ref().and_then(|object| object.metadata.resource_version.clone());
        let condition = Preconditions { resource_version: version, ..Preconditions::default() };
        let how = DeleteParams::default().preconditions(condition);
        let gone = self.config_maps(release).delete(&name(release), &how).await;
        match gone.map_err(|error| attempt("delete", release, &name(release)).refused(error)) {
            Err(Error::Stale { .. }) => Err(concurrent_change(release, self.find_record(release).await?)),
            // Gone by an attempt whose answer was lost.
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

fn attempt<'a>(verb: &'static str, release: &'a ReleaseName, name: &'a str) -> Attempt<'a> {
    Attempt { verb, resource: "configmaps", group: "", namespace: release.namespace.as_str(), name }
}
