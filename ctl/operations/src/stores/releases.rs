//! The releases of a cluster, by their records.

use crate::Error;
use crate::client::ApiRequest;
use crate::stores::record_store::{KEY, RecordStore};
use crate::stores::stored_record::FoundRecord;
use canary_release::object::FIELD_MANAGER;
use canary_release::record::{self, Record, RecordFault, RecordTrust};
use canary_release::spec::ReleaseName;
use futures_util::future::try_join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::ListParams;
use std::collections::BTreeMap;

/// A release, and its record as it is, to be shown and not to be obeyed; why it cannot be read if a newer version of this library wrote it.
pub type FoundRelease = (ReleaseName, Result<Record, record::Error>);

/// A release with its record as it is, and the trust in that.
#[derive(Debug)]
pub struct ListedRelease {
    /// Its name.
    pub name: ReleaseName,
    /// Its record.
    pub record: Result<Record, record::Error>,
    /// Whether the record is obeyed.
    pub trust: RecordTrust,
}

/// A release, and the object of its record.
pub(crate) type FoundObject = (ReleaseName, ConfigMap);

impl RecordStore {
    /// The records in these namespaces, as they are; without one those in all that may be read.
    pub(crate) async fn list(&self, namespaces: &[String]) -> Result<Vec<FoundRelease>, Error> {
        let found = self.list_objects(namespaces, "").await?;
        Ok(found.into_iter().map(|(name, object)| found_release(name, &object)).collect())
    }

    /// The same with the trust in each. Keys that may not be read verify nothing.
    pub(crate) async fn list_verified(&self, namespaces: &[String]) -> Result<Vec<ListedRelease>, Error> {
        let objects = self.list_objects(namespaces, "").await?;
        let sealed = self.all_sealed(objects.clone()).await.unwrap_or_default();
        let trust = |found| match found {
            FoundRecord::Genuine(_) => RecordTrust::Genuine,
            FoundRecord::Refused(_, fault @ RecordFault::NoKeys { .. }) => {
                RecordTrust::Unverified(fault.to_string())
            }
            FoundRecord::Refused(_, fault) => RecordTrust::Refused(fault),
        };
        let mut verified: BTreeMap<ReleaseName, RecordTrust> =
            sealed.into_iter().map(|(name, found)| (name, trust(found))).collect();
        let listed = objects.into_iter().map(|(name, object)| {
            let trust = verified.remove(&name);
            let (name, record) = found_release(name, &object);
            let trust = trust.unwrap_or_else(|| RecordTrust::Unverified("its keys were not read".to_owned()));
            ListedRelease { name, record, trust }
        });
        Ok(listed.collect())
    }

    /// The records of all namespaces.
    ///
    /// # Errors
    ///
    /// If the user may not list those of all: a part is not enough.
    pub(crate) async fn list_all(&self) -> Result<Vec<FoundRelease>, Error> {
        let found = self.list_in(None, "").await?;
        Ok(found.into_iter().map(|(name, object)| found_release(name, &object)).collect())
    }

    /// The objects of the records with these labels besides, each after a comma.
    pub(crate) async fn list_objects(
        &self,
        namespaces: &[String],
        labels: &str,
    ) -> Result<Vec<FoundObject>, Error> {
        let mut found = if namespaces.is_empty() {
            match self.list_in(None, labels).await {
                Err(denied @ Error::Forbidden { .. }) => self.list_where_allowed(denied, labels).await?,
                listed => listed?,
            }
        } else {
            let lists = namespaces.iter().map(|namespace| self.list_in(Some(namespace), labels));
            try_join_all(lists).await?.into_iter().flatten().collect()
        };
        found.sort_by_key(|(name, _)| name.to_string());
        found.dedup_by_key(|(name, _)| name.to_string());
        Ok(found)
    }

    /// The names of the releases that a user can see, for the error of one that is not there.
    pub(crate) async fn names(&self, asked: &ReleaseName) -> Vec<String> {
        let found = match self.list_objects(&[], "").await {
            Ok(found) => found,
            Err(_) => self.list_in(Some(asked.namespace.as_str()), "").await.unwrap_or_default(),
        };
        found.into_iter().map(|(name, _)| name.to_string()).collect()
    }

    /// Those of the namespaces in which the user may list records; the error if there is none.
    async fn list_where_allowed(&self, denied: Error, labels: &str) -> Result<Vec<FoundObject>, Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let Ok(namespaces) = namespaces.list(&ListParams::default()).await else { return Err(denied) };
        let names = namespaces.items.into_iter().filter_map(|namespace| namespace.metadata.name);
        let (mut found, mut is_allowed) = (Vec::new(), false);
        for name in names {
            match self.list_in(Some(&name), labels).await {
                Err(Error::Forbidden { .. }) => {}
                listed => {
                    is_allowed = true;
                    found.extend(listed?);
                }
            }
        }
        if is_allowed { Ok(found) } else { Err(denied) }
    }

    async fn list_in(&self, namespace: Option<&str>, labels: &str) -> Result<Vec<FoundObject>, Error> {
        let api: Api<ConfigMap> = match namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        };
        let namespace = namespace.unwrap_or("*");
        let request = ApiRequest { verb: "list", resource: "configmaps", group: "", namespace, name: "" };
        let ours =
            ListParams::default().labels(&format!("app.kubernetes.io/managed-by={FIELD_MANAGER}{labels}"));
        let found = api.list(&ours).await.map_err(|error| request.error(error))?;
        Ok(found.items.into_iter().filter_map(|object| Some((release(&object)?, object))).collect())
    }
}

/// The release whose record a ConfigMap is.
fn release(object: &ConfigMap) -> Option<ReleaseName> {
    object.data.as_ref()?.get(KEY)?;
    let name = object.metadata.name.as_ref()?.strip_suffix("-canary")?;
    let namespace = object.metadata.namespace.as_ref()?;
    format!("{namespace}/{name}").parse().ok()
}

pub(crate) fn found_release(release: ReleaseName, object: &ConfigMap) -> FoundRelease {
    let text = object.data.as_ref().and_then(|data| data.get(KEY)).map_or("", String::as_str);
    let record = Record::parse(&release, text);
    (release, record)
}
