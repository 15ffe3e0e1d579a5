//! The keys of records: one Secret in each namespace with proxies of a release. No proxy gets them, so who may read what a proxy runs cannot
//! change what `canary-ctl` writes.

use crate::Error;
use crate::client::ApiRequest;
use canary_release::config;
use canary_release::object::FIELD_MANAGER;
use canary_release::rbac::RECORD_KEYS as NAME;
use canary_release::record::RecordKeys;
use canary_release::spec::ObjectMetadata;
use futures_util::future::try_join_all;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::{Api, Client};
use std::collections::{BTreeMap, BTreeSet};

/// The key of the Secret under which they are, as JSON.
const KEY: &str = "record-keys.json";
/// The number of times a Secret is read again that another client has written at the same moment.
const ATTEMPTS: usize = 3;

/// The Secrets with the keys of a cluster's records.
#[derive(Clone)]
pub(crate) struct RecordKeyStore {
    client: Client,
}

/// The Secret of a namespace, and what is in it.
struct FoundKeys {
    object: Option<Secret>,
    keys: Option<RecordKeys>,
}

impl RecordKeyStore {
    pub(crate) const fn new(client: Client) -> Self {
        Self { client }
    }

    /// The keys of those of these namespaces that have some.
    ///
    /// # Errors
    ///
    /// If a Secret may not be read, or has other contents.
    pub(crate) async fn find(
        &self,
        namespaces: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, RecordKeys>, Error> {
        let found = try_join_all(namespaces.iter().map(async |namespace| {
            let FoundKeys { keys, .. } = self.read(namespace).await?;
            Ok::<_, Error>(keys.map(|keys| (namespace.clone(), keys)))
        }));
        Ok(found.await?.into_iter().flatten().collect())
    }

    /// The same; of a namespace whose keys may not be read there are none.
    ///
    /// # Errors
    ///
    /// If the API server does not respond, or a Secret has other contents.
    pub(crate) async fn find_readable(
        &self,
        namespaces: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, RecordKeys>, Error> {
        let mut all = BTreeMap::new();
        for namespace in namespaces {
            match self.read(namespace).await {
                Err(Error::Forbidden { .. }) => {}
                found => all.extend(found?.keys.map(|keys| (namespace.clone(), keys))),
            }
        }
        Ok(all)
    }

    /// The keys of these namespaces. Draws those that are missing; a Secret that `generate rbac` has printed is filled. Secrets get the labels and
    /// annotations of the release that makes them, and keep them: releases of a namespace share them.
    ///
    /// # Errors
    ///
    /// If a Secret may not be written.
    pub(crate) async fn find_or_create(
        &self,
        namespaces: &BTreeSet<String>,
        given: &ObjectMetadata,
    ) -> Result<BTreeMap<String, RecordKeys>, Error> {
        let found = try_join_all(namespaces.iter().map(async |namespace| {
            Ok::<_, Error>((namespace.clone(), self.of_namespace(namespace, given).await?))
        }));
        Ok(found.await?.into_iter().collect())
    }

    /// Lets the API server validate the Secrets that are missing, and discard them.
    ///
    /// # Errors
    ///
    /// If it refuses one.
    pub(crate) async fn dry_run(
        &self,
        namespaces: &BTreeSet<String>,
        given: &ObjectMetadata,
    ) -> Result<(), Error> {
        let checks = namespaces.iter().map(async |namespace| {
            let found = self.read(namespace).await?;
            if found.keys.is_some() {
                return Ok(());
            }
            self.write(namespace, with_metadata(found.object, given), &drawn()?, true).await
        });
        try_join_all(checks).await.map(drop)
    }

    /// Puts a new key before those of each namespace; the old ones verify until they are retired.
    ///
    /// # Errors
    ///
    /// If a Secret may not be written, or another client writes it at the same moment.
    pub(crate) async fn rotate(&self, namespaces: &BTreeSet<String>) -> Result<(), Error> {
        self.change(namespaces, |keys| Ok(Some(keys.rotated().map_err(config::Error::from)?))).await
    }

    /// Removes all but the newest key of each namespace.
    ///
    /// # Errors
    ///
    /// As [`rotate`](Self::rotate).
    pub(crate) async fn retire(&self, namespaces: &BTreeSet<String>) -> Result<(), Error> {
        self.change(namespaces, |keys| Ok(keys.has_superseded().then(|| keys.without_superseded()))).await
    }

    async fn change(
        &self,
        namespaces: &BTreeSet<String>,
        after: impl Fn(RecordKeys) -> Result<Option<RecordKeys>, Error>,
    ) -> Result<(), Error> {
        for namespace in namespaces {
            let FoundKeys { object, keys } = self.read(namespace).await?;
            if let Some(keys) = keys
                && let Some(keys) = after(keys)?
            {
                self.write(namespace, object.unwrap_or_default(), &keys, false).await?;
            }
        }
        Ok(())
    }

    async fn of_namespace(&self, namespace: &str, given: &ObjectMetadata) -> Result<RecordKeys, Error> {
        let mut attempt = 1;
        loop {
            let FoundKeys { object, keys } = self.read(namespace).await?;
            if let Some(keys) = keys {
                return Ok(keys);
            }
            let keys = drawn()?;
            match self.write(namespace, with_metadata(object, given), &keys, false).await {
                // Another client has drawn keys at the same moment: those count.
                Err(Error::Stale { .. }) if attempt < ATTEMPTS => attempt += 1,
                written => return written.map(|()| keys),
            }
        }
    }

    async fn read(&self, namespace: &str) -> Result<FoundKeys, Error> {
        let found = self.api(namespace).get_opt(NAME).await;
        let object = found.map_err(|error| request("get", namespace).error(error))?;
        let data = object.as_ref().and_then(|object| object.data.as_ref()?.get(KEY));
        let keys = data.map(|json| serde_json::from_slice(&json.0)).transpose();
        let keys =
            keys.map_err(|source| Error::NoKeys { namespace: namespace.to_owned(), name: NAME, source })?;
        Ok(FoundKeys { object, keys })
    }

    /// Creates the Secret, or writes into the one that was read.
    async fn write(
        &self,
        namespace: &str,
        mut object: Secret,
        keys: &RecordKeys,
        dry_run: bool,
    ) -> Result<(), Error> {
        let json = serde_json::to_vec(keys).map_err(|source| Error::NoKeys {
            namespace: namespace.to_owned(),
            name: NAME,
            source,
        })?;
        let exists = object.metadata.resource_version.is_some();
        object.data.get_or_insert_default().insert(KEY.to_owned(), ByteString(json));
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), dry_run };
        let api = self.api(namespace);
        let (verb, written) = if exists {
            ("update", api.replace(NAME, &how, &object).await)
        } else {
            ("create", api.create(&how, &object).await)
        };
        written.map(drop).map_err(|error| request(verb, namespace).error(error))
    }

    fn api(&self, namespace: &str) -> Api<Secret> {
        Api::namespaced(self.client.clone(), namespace)
    }
}

fn drawn() -> Result<RecordKeys, Error> {
    Ok(RecordKeys::draw().map_err(config::Error::from)?)
}

/// The Secret that was found, or a new one, with the labels and annotations of a release.
fn with_metadata(found: Option<Secret>, given: &ObjectMetadata) -> Secret {
    let mut object = found.unwrap_or_default();
    let metadata = &mut object.metadata;
    metadata.name = Some(NAME.to_owned());
    let labels = metadata.labels.get_or_insert_default();
    labels.extend(given.labels.clone());
    labels.insert("app.kubernetes.io/managed-by".to_owned(), FIELD_MANAGER.to_owned());
    if !given.annotations.is_empty() {
        metadata.annotations.get_or_insert_default().extend(given.annotations.clone());
    }
    object
}

fn request<'a>(verb: &'static str, namespace: &'a str) -> ApiRequest<'a> {
    ApiRequest { verb, resource: "secrets", group: "", namespace, name: NAME }
}
