//! What signs: one Secret in each namespace whose gateways sign, drawn once by `apply`, and changed by `rotate-keys` alone.
//!
//! All gateways of a release have the same keys, or a pin of one would be a forgery at another. A gateway that comes
//! later gets a copy.

use super::refusal::Attempt;
use super::{Cluster, Error};
use crate::config::{self, KeyRing};
use crate::plan::{FIELD_MANAGER, KEYS as NAME};
use crate::spec::Release;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::PostParams;
use std::collections::BTreeMap;

/// The key under which the ring stands, as JSON.
const KEY: &str = "keys.json";

/// Since when the key signs that does.
const SIGNING_SINCE: &str = "canary-ctl.io/signing-since";

/// A Secret with keys.
pub(super) struct KeySecret {
    pub(super) namespace: String,
    pub(super) ring: KeyRing,
    /// `None` where the first key still signs.
    pub(super) signing_since: Option<Timestamp>,
    object: Secret,
}

/// The keys of a release's gateways, and where they are missing.
pub(super) struct Found {
    ring: Option<KeyRing>,
    missing: Vec<String>,
}

impl Found {
    /// Takes the keys that the gateways sign with where the Secret is lost: new ones would make every pin a forgery.
    pub(super) fn or_signing(mut self, signing: Option<KeyRing>) -> Self {
        self.ring = self.ring.or(signing);
        self
    }

    /// The keys. Fails where there are none: what is written is never signed by a placeholder.
    pub(super) fn required(self) -> Result<KeyRing, Error> {
        self.ring.ok_or_else(|| Error::LostKeys { namespaces: self.missing.join(", ") })
    }

    /// Whether something has to be written before there are keys everywhere.
    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// The keys; where there are none yet, some that show where keys will be and sign nothing.
    pub(super) fn or_placeholder(&self) -> KeyRing {
        self.ring.clone().unwrap_or_else(KeyRing::placeholder)
    }
}

impl Cluster {
    /// Looks for the keys of a release. Fails where two gateways have other ones.
    pub(super) async fn keys(&self, release: &Release) -> Result<Found, Error> {
        let mut found: Option<(String, KeyRing)> = None;
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
        Ok(Found { ring: found.map(|(_, ring)| ring), missing })
    }

    /// Draws keys where there are none and copies them where they are missing. `known` are those that were found before
    /// we were alone.
    pub(super) async fn ensure_keys(&self, release: &Release, known: &Found) -> Result<(), Error> {
        let found = self.keys(release).await?.or_signing(known.ring.clone());
        let drawn = || KeyRing::draw().map_err(config::Error::from);
        let ring = match found.ring.clone() {
            Some(ring) if ring.identity_key.is_some() => ring,
            Some(ring) => KeyRing { identity_key: drawn()?.identity_key, ..ring },
            None => drawn()?,
        };
        for namespace in &found.missing {
            self.count_write()?;
            let json = json(&ring, namespace)?;
            let labels =
                BTreeMap::from([("app.kubernetes.io/managed-by".to_owned(), FIELD_MANAGER.to_owned())]);
            let metadata =
                ObjectMeta { name: Some(NAME.to_owned()), labels: Some(labels), ..ObjectMeta::default() };
            let data = Some(BTreeMap::from([(KEY.to_owned(), ByteString(json))]));
            let secret = Secret { metadata, data, ..Secret::default() };
            let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let made = self.secrets(namespace).create(&how, &secret).await;
            made.map_err(|error| attempt("create", namespace).refused(error))?;
        }
        Ok(())
    }

    /// The Secrets of a release, of which there has to be one in each of its namespaces.
    pub(super) async fn key_secrets(&self, release: &Release) -> Result<Vec<KeySecret>, Error> {
        let mut secrets = Vec::new();
        for namespace in release.signing_namespaces() {
            let lost = || Error::LostKeys { namespaces: namespace.clone() };
            secrets.push(self.secret_of(&namespace).await?.ok_or_else(lost)?);
        }
        Ok(secrets)
    }

    /// Writes this ring into the Secrets that have another one. Fails where somebody else has written one meanwhile.
    pub(super) async fn put_keys(&self, secrets: &mut [KeySecret], ring: &KeyRing) -> Result<(), Error> {
        let signer = |ring: &KeyRing| ring.signer().map(|key| key.id.clone());
        for secret in secrets.iter_mut().filter(|secret| secret.ring != *ring) {
            self.count_write()?;
            if signer(&secret.ring) != signer(ring) {
                secret.signing_since = Some(Timestamp::now());
            }
            let mut object = secret.object.clone();
            object.data =
                Some(BTreeMap::from([(KEY.to_owned(), ByteString(json(ring, &secret.namespace)?))]));
            let since = secret.signing_since.map(|since| (SIGNING_SINCE.to_owned(), since.to_string()));
            object.metadata.annotations.get_or_insert_default().extend(since);
            let how = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let written = self.secrets(&secret.namespace).replace(NAME, &how, &object).await;
            secret.object = written.map_err(|error| attempt("update", &secret.namespace).refused(error))?;
            secret.ring = ring.clone();
        }
        Ok(())
    }

    async fn ring_of(&self, namespace: &str) -> Result<Option<KeyRing>, Error> {
        Ok(self.secret_of(namespace).await?.map(|secret| secret.ring))
    }

    async fn secret_of(&self, namespace: &str) -> Result<Option<KeySecret>, Error> {
        let found = self.secrets(namespace).get_opt(NAME).await;
        let Some(object) = found.map_err(|error| attempt("get", namespace).refused(error))? else {
            return Ok(None);
        };
        let json = object.data.as_ref().and_then(|data| data.get(KEY)).map_or(&[][..], |json| &json.0);
        let ring = serde_json::from_slice(json).map_err(|source| unusable(namespace, source))?;
        let since = object.metadata.annotations.as_ref().and_then(|all| all.get(SIGNING_SINCE)?.parse().ok());
        Ok(Some(KeySecret { namespace: namespace.to_owned(), ring, signing_since: since, object }))
    }

    fn secrets(&self, namespace: &str) -> Api<Secret> {
        Api::namespaced(self.client.clone(), namespace)
    }
}

fn json(ring: &KeyRing, namespace: &str) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(ring).map_err(|source| unusable(namespace, source))
}

fn unusable(namespace: &str, source: serde_json::Error) -> Error {
    Error::NoKeys { namespace: namespace.to_owned(), name: NAME, source }
}

fn attempt<'a>(verb: &'static str, namespace: &'a str) -> Attempt<'a> {
    Attempt { verb, resource: "secrets", group: "", namespace, name: NAME }
}
