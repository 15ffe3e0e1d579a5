//! The seal of a record: who may write a `ConfigMap` beside a release decides nothing that is written in the namespaces of its proxies.
//!
//! A record has one seal for each of these namespaces: an HMAC-SHA-256 under a key of that namespace, which no proxy gets. So each
//! namespace vouches for what is written there, and the keys of one give nothing in another. The text under the MAC is bound to the namespace, the
//! release and the uid of the `ConfigMap`: a seal says nothing of a copy, of another release or of another cluster. Its generation is bounded by
//! the objects ([`Record::check_against`]): an older record that is put back is refused.

use super::Record;
use crate::delivery::deployed_config;
use crate::object::Reference;
use crate::spec::ReleaseName;
use assignment::contract::Secret;
use hmac::{Hmac, KeyInit as _, Mac};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};

/// First under the MAC, so that no other text that is signed with such a key verifies as a record.
const PURPOSE: &str = "canary-ctl/record/1";
/// The bytes of a key: as many as SHA-256 gives out.
const KEY_BYTES: usize = 32;

/// The keys of a namespace, the newest first: that one seals, and all of them verify. As JSON a list of `{"id", "key"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordKeys(Vec<RecordKey>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordKey {
    id: String,
    key: Secret,
}

/// The context to which a seal is bound besides the record.
#[derive(Clone, Copy, Debug)]
pub struct SealContext<'a> {
    /// The release.
    pub release: &'a ReleaseName,
    /// The uid of the `ConfigMap`.
    pub uid: &'a str,
}

/// The seals of a record by namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordSeals(BTreeMap<String, RecordSeal>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordSeal {
    /// The id of the key.
    key: String,
    /// The MAC.
    mac: Secret,
}

/// The fault for which a record is not obeyed.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// It cannot be read.
    #[error("expected a record, found {0}")]
    Malformed(String),
    /// It has no seal: a client that has no key wrote it, or an earlier version of this tool.
    #[error("expected a seal of namespace `{namespace}`, found none")]
    Unsealed {
        /// A namespace in which the record decides.
        namespace: String,
    },
    /// Its seal was made by another key, for another text, or for another `ConfigMap`.
    #[error(
        "expected a seal by a key of namespace `{namespace}`, found one that does not verify: the record was changed or copied, or its key was retired"
    )]
    ForeignSeal {
        /// A namespace in which the record decides.
        namespace: String,
    },
    #[error("expected keys of records in namespace `{namespace}`, found none")]
    NoKeys {
        /// A namespace in which the record decides.
        namespace: String,
    },
    /// The objects are newer: an earlier record was put back, or a rollback could not write the record.
    #[error("expected generation {deployed} or a later one, which {object} has, found generation {found}")]
    Outdated {
        /// The generation of the record.
        found: u64,
        /// The generation of the object.
        deployed: u64,
        object: Box<Reference>,
    },
    /// The objects are those of another installation of the release.
    #[error("expected the record of the installation that {object} has, found that of another one")]
    OtherInstallation { object: Box<Reference> },
}

/// The origin of a record, and so whether it is obeyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RecordTrust {
    /// Its seals are genuine.
    #[default]
    Genuine,
    /// There is none on the cluster: this one is new, or was read back from the objects.
    Absent,
    /// The one on the cluster is not obeyed, for this reason: this one was read back from the objects.
    Refused(RecordFault),
    /// Its seals could not be checked, for this reason. It is shown and not obeyed.
    Unverified(String),
}

impl RecordKeys {
    /// Draws one key.
    ///
    /// # Errors
    ///
    /// If the system has no randomness.
    pub fn draw() -> Result<Self, getrandom::Error> {
        Ok(Self(vec![RecordKey::draw("r1")?]))
    }

    /// The same keys behind a new one.
    ///
    /// # Errors
    ///
    /// If the system has no randomness.
    pub fn rotated(&self) -> Result<Self, getrandom::Error> {
        let numbers = self.0.iter().filter_map(|key| key.id.strip_prefix('r')?.parse::<u32>().ok());
        let next = numbers.max().unwrap_or_default().saturating_add(1);
        let new = RecordKey::draw(&format!("r{next}"))?;
        Ok(Self([new].into_iter().chain(self.0.iter().cloned()).collect()))
    }

    /// The newest key alone.
    #[must_use]
    pub fn without_superseded(&self) -> Self {
        Self(self.0.iter().take(1).cloned().collect())
    }

    /// Whether there are keys that no longer seal.
    pub fn has_superseded(&self) -> bool {
        self.0.len() > 1
    }

    fn get(&self, id: &str) -> Option<&RecordKey> {
        self.0.iter().find(|key| key.id == id)
    }
}

impl RecordKey {
    fn draw(id: &str) -> Result<Self, getrandom::Error> {
        let mut bytes = vec![0; KEY_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self { id: id.to_owned(), key: Secret::new(bytes) })
    }

    /// The MAC, ready for [`Mac::verify_slice`] and [`Mac::finalize`]. Texts have their length before them. `None` for a key that is too short.
    fn mac(&self, context: SealContext<'_>, namespace: &str, text: &str) -> Option<Hmac<Sha256>> {
        let key = Some(self.key.expose()).filter(|key| key.len() >= Secret::MIN_LEN)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        for part in [PURPOSE, namespace, &context.release.to_string(), context.uid, text] {
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part.as_bytes());
        }
        Some(mac)
    }
}

impl RecordSeals {
    /// Seals the text of a record for each of these namespaces.
    ///
    /// # Errors
    ///
    /// [`RecordFault::NoKeys`] if one of them has none.
    pub fn of(
        text: &str,
        context: SealContext<'_>,
        keys: &BTreeMap<String, RecordKeys>,
        namespaces: &BTreeSet<String>,
    ) -> Result<Self, RecordFault> {
        let seal = |namespace: &String| {
            let key = keys.get(namespace).and_then(|keys| keys.0.first());
            let mac = key.and_then(|key| Some((key, key.mac(context, namespace, text)?)));
            let (key, mac) = mac.ok_or_else(|| RecordFault::NoKeys { namespace: namespace.clone() })?;
            let mac = Secret::new(mac.finalize().into_bytes().to_vec());
            Ok((namespace.clone(), RecordSeal { key: key.id.clone(), mac }))
        };
        Ok(Self(namespaces.iter().map(seal).collect::<Result<_, _>>()?))
    }

    /// The first of these namespaces that has not sealed the record.
    pub fn missing(&self, namespaces: &BTreeSet<String>) -> Option<String> {
        namespaces.iter().find(|namespace| !self.0.contains_key(*namespace)).cloned()
    }

    /// Checks the text of a record: each of these namespaces has sealed it.
    ///
    /// # Errors
    ///
    /// If one has not.
    pub fn verify(
        &self,
        text: &str,
        context: SealContext<'_>,
        keys: &BTreeMap<String, RecordKeys>,
        namespaces: &BTreeSet<String>,
    ) -> Result<(), RecordFault> {
        for namespace in namespaces {
            let namespace = namespace.clone();
            let Some(seal) = self.0.get(&namespace) else { return Err(RecordFault::Unsealed { namespace }) };
            let Some(keys) = keys.get(&namespace) else { return Err(RecordFault::NoKeys { namespace }) };
            let mac = keys.get(&seal.key).and_then(|key| key.mac(context, &namespace, text));
            if mac.is_none_or(|mac| mac.verify_slice(seal.mac.expose()).is_err()) {
                return Err(RecordFault::ForeignSeal { namespace });
            }
        }
        Ok(())
    }

    /// Whether the newest keys of all namespaces have made them.
    pub fn are_current(&self, keys: &BTreeMap<String, RecordKeys>) -> bool {
        let is_current = |(namespace, seal): (&String, &RecordSeal)| {
            keys.get(namespace).and_then(|keys| keys.0.first()).is_some_and(|key| key.id == seal.key)
        };
        self.0.iter().all(is_current)
    }
}

impl Record {
    /// The namespaces in which it decides, and so has to be sealed: those of its proxies, and those of its objects but for the release's own.
    pub fn sealing_namespaces(&self, release: &ReleaseName) -> BTreeSet<String> {
        let proxies = self.proxies.iter().map(|proxies| &proxies.namespace);
        let objects = self.objects.iter().map(|(_, object)| &object.namespace);
        let foreign = objects.filter(|namespace| *namespace != release.namespace.as_str());
        proxies.chain(foreign).cloned().collect()
    }

    /// Compares a record with the configurations of its proxies. A record is written before them, so they are not newer than its generation as it was
    /// read.
    ///
    /// # Errors
    ///
    /// If they are newer, or those of another installation.
    pub fn check_against<'o>(
        &self,
        release: &ReleaseName,
        generation: u64,
        observed: impl IntoIterator<Item = (&'o Reference, &'o Value)>,
    ) -> Result<(), RecordFault> {
        for (reference, object) in observed {
            let Ok(Some(mut config)) = deployed_config(object) else { continue };
            let Some(entry) = config.releases.remove(&release.to_string()) else { continue };
            // What `generate` has printed has no record.
            if entry.installed_at_seconds == 0 {
                continue;
            }
            let object = Box::new(reference.clone());
            if entry.uid != self.state.uid {
                return Err(RecordFault::OtherInstallation { object });
            }
            if entry.generation > generation {
                let (found, deployed) = (generation, entry.generation);
                return Err(RecordFault::Outdated { found, deployed, object });
            }
        }
        Ok(())
    }
}
