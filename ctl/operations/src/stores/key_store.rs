//! The signing keys: one Secret in each namespace whose gateways sign, drawn once by `apply`, and changed only by
//! `rotate-keys`.
//!
//! All gateways of a release have the same keys; otherwise a pin of one would not verify at another. A gateway that is
//! added later gets a copy.

use crate::Error;
use crate::client::ApiRequest;
use canary_release::config::{self, SigningKeys};
use canary_release::object::FIELD_MANAGER;
use canary_release::rbac::KEYS as NAME;
use canary_release::spec::{ObjectMetadata, Release};
use futures_util::future::try_join_all;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::{Api, Client};
use std::collections::BTreeMap;

/// The key under which the ring stands, as JSON.
const KEY: &str = "signing-keys.json";

/// Since when the key signs that does.
const SIGNING_SINCE: &str = "canary-ctl.io/signing-since";

pub(crate) struct KeySecret {
    pub(crate) namespace: String,
    pub(crate) ring: SigningKeys,
    /// `None` if the first key still signs.
    pub(crate) signing_since: Option<Timestamp>,
    object: Secret,
}

/// The keys of a release's gateways, and where they are missing.
pub(crate) struct GatewayKeys {
    ring: Option<SigningKeys>,
    missing: Vec<String>,
}

impl GatewayKeys {
    /// Takes the keys that the gateways sign with where the Secret is lost: new ones would make every pin a forgery.
    pub(crate) fn or_signing(mut self, signing: Option<SigningKeys>) -> Self {
        self.ring = self.ring.or(signing);
        self
    }

    /// The keys. Fails if there are none: what is written is never signed by a placeholder.
    pub(crate) fn required(self) -> Result<SigningKeys, Error> {
        self.ring.ok_or_else(|| Error::LostKeys { namespaces: self.missing.join(", ") })
    }

    /// Whether all Secrets have keys.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// The namespaces without keys.
    pub(crate) fn missing(self) -> Vec<String> {
        self.missing
    }

    /// The keys; placeholders if there are none yet.
    pub(crate) fn or_placeholder(&self) -> SigningKeys {
        self.ring.clone().unwrap_or_else(SigningKeys::placeholder)
    }
}

/// The Secrets with the signing keys of a cluster's releases.
pub(crate) struct KeyStore {
    client: Client,
}

impl KeyStore {
    pub(crate) const fn new(client: Client) -> Self {
        Self { client }
    }

    /// Reads the keys of a release. Fails if two gateways have different ones.
    pub(crate) async fn find(&self, release: &Release) -> Result<GatewayKeys, Error> {
        let mut found: Option<(String, SigningKeys)> = None;
        let mut missing = Vec::new();
        for namespace in release.signing_namespaces() {
            match (self.ring_of(&namespace).await?, &found) {
                (None, _) => missing.push(namespace),
                (Some(ring), None) => found = Some((namespace, ring)),
                (Some(ring), Some((first, other))) if ring != *other => {
                    return Err(Error::KeysDiffer { first: first.clone(), second: namespace });
                }
                (Some(_), Some(_)) => {}
            }
        }
        Ok(GatewayKeys { ring: found.map(|(_, ring)| ring), missing })
    }

    /// Draws keys if there are none, and copies them where they are missing.
    ///
    /// The caller holds the Leases of the release's configurations: of two releases that draw keys at the same moment the
    /// second finds those of the first.
    /// They have the labels and annotations of the release that makes them, and keep them: releases of a namespace share them.
    pub(crate) async fn create_missing(
        &self,
        found: GatewayKeys,
        given: &ObjectMetadata,
    ) -> Result<GatewayKeys, Error> {
        let drawn = || SigningKeys::draw().map_err(config::Error::from);
        let ring = match found.ring {
            Some(ring) if ring.identity_key.is_some() => ring,
            Some(ring) => SigningKeys { identity_key: drawn()?.identity_key, ..ring },
            None => drawn()?,
        };
        for namespace in &found.missing {
            self.create(&ring, namespace, given, false).await?;
        }
        Ok(GatewayKeys { ring: Some(ring), missing: Vec::new() })
    }

    /// Lets the API server validate the Secrets that are missing, with placeholders, and discard them.
    pub(crate) async fn dry_run_missing(
        &self,
        found: &GatewayKeys,
        given: &ObjectMetadata,
    ) -> Result<(), Error> {
        let ring = SigningKeys::placeholder();
        try_join_all(found.missing.iter().map(|namespace| self.create(&ring, namespace, given, true)))
            .await
            .map(drop)
    }

    async fn create(
        &self,
        ring: &SigningKeys,
        namespace: &str,
        given: &ObjectMetadata,
        dry_run: bool,
    ) -> Result<(), Error> {
        let json = json(ring, namespace)?;
        let mut labels = given.labels.clone();
        labels.insert("app.kubernetes.io/managed-by".to_owned(), FIELD_MANAGER.to_owned());
        let api = self.api(namespace);
        let found = api.get_opt(NAME).await.map_err(|error| request("get", namespace).error(error))?;
        if found
            .as_ref()
            .is_some_and(|secret| secret.data.as_ref().is_some_and(|data| data.contains_key(KEY)))
        {
            return Err(Error::Stale { object: format!("Secret {namespace}/{NAME}") });
        }
        let exists = found.is_some();
        let mut secret = found.unwrap_or_default();
        secret.metadata.name = Some(NAME.to_owned());
        secret.metadata.labels.get_or_insert_default().extend(labels);
        if !given.annotations.is_empty() {
            secret.metadata.annotations.get_or_insert_default().extend(given.annotations.clone());
        }
        secret.data.get_or_insert_default().insert(KEY.to_owned(), ByteString(json));
        let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), dry_run };
        let (verb, written) = if exists {
            ("update", api.replace(NAME, &how, &secret).await)
        } else {
            ("create", api.create(&how, &secret).await)
        };
        written.map(drop).map_err(|error| request(verb, namespace).error(error))
    }

    /// The Secrets of a release, of which there has to be one in each of its namespaces.
    pub(crate) async fn secrets(&self, release: &Release) -> Result<Vec<KeySecret>, Error> {
        let mut secrets = Vec::new();
        for namespace in release.signing_namespaces() {
            let lost = || Error::LostKeys { namespaces: namespace.clone() };
            secrets.push(self.secret_of(&namespace).await?.ok_or_else(lost)?);
        }
        Ok(secrets)
    }

    /// Writes this ring into the Secrets that have another one. Fails if another client has written one of them
    /// meanwhile.
    pub(crate) async fn save(&self, secrets: &mut [KeySecret], ring: &SigningKeys) -> Result<(), Error> {
        let signer = |ring: &SigningKeys| ring.signer().map(|key| key.id.clone());
        for secret in secrets.iter_mut().filter(|secret| secret.ring != *ring) {
            if signer(&secret.ring) != signer(ring) {
                secret.signing_since = Some(Timestamp::now());
            }
            let mut object = secret.object.clone();
            object.data =
                Some(BTreeMap::from([(KEY.to_owned(), ByteString(json(ring, &secret.namespace)?))]));
            let since = secret.signing_since.map(|since| (SIGNING_SINCE.to_owned(), since.to_string()));
            object.metadata.annotations.get_or_insert_default().extend(since);
            let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let written = self.api(&secret.namespace).replace(NAME, &how, &object).await;
            secret.object = written.map_err(|error| request("update", &secret.namespace).error(error))?;
            secret.ring = ring.clone();
        }
        Ok(())
    }

    async fn ring_of(&self, namespace: &str) -> Result<Option<SigningKeys>, Error> {
        Ok(self.secret_of(namespace).await?.map(|secret| secret.ring))
    }

    async fn secret_of(&self, namespace: &str) -> Result<Option<KeySecret>, Error> {
        let found = self.api(namespace).get_opt(NAME).await;
        let Some(object) = found.map_err(|error| request("get", namespace).error(error))? else {
            return Ok(None);
        };
        // One that `generate rbac` has printed has no keys yet.
        let Some(json) = object.data.as_ref().and_then(|data| data.get(KEY)) else { return Ok(None) };
        let ring = serde_json::from_slice(&json.0).map_err(|source| unusable(namespace, source))?;
        let since = object.metadata.annotations.as_ref().and_then(|all| all.get(SIGNING_SINCE)?.parse().ok());
        Ok(Some(KeySecret { namespace: namespace.to_owned(), ring, signing_since: since, object }))
    }

    fn api(&self, namespace: &str) -> Api<Secret> {
        Api::namespaced(self.client.clone(), namespace)
    }
}

fn json(ring: &SigningKeys, namespace: &str) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(ring).map_err(|source| unusable(namespace, source))
}

fn unusable(namespace: &str, source: serde_json::Error) -> Error {
    Error::NoKeys { namespace: namespace.to_owned(), name: NAME, source }
}

fn request<'a>(verb: &'static str, namespace: &'a str) -> ApiRequest<'a> {
    ApiRequest { verb, resource: "secrets", group: "", namespace, name: NAME }
}
