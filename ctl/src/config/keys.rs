//! The keys that sign and verify. They are read here, and drawn here when `init` or the local target asks.

use assignment::contract::{KeyUse, RingKey, Secret};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The ring, and the secret behind `identity: keyed`. As JSON: `{"keys": [...], "identityKey": "..."}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRing {
    /// The ring.
    pub keys: Vec<RingKey>,
    /// The secret behind `identity: keyed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_key: Option<Secret>,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Nobody said where they are.
    #[error("expected a file of keys, found none: pins, minted ids and tokens are signed")]
    Missing,
    /// The file cannot be read.
    #[error("cannot read the keys from {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has another shape.
    #[error("expected keys as JSON in {}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// The bytes of a key: as many as SHA-256 gives out.
const KEY_LEN: usize = 32;

impl KeyRing {
    /// Draws a new ring of one signing key, and an identity key.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let key = RingKey { id: "k1".to_owned(), key: secret()?, usage: KeyUse::Sign };
        Ok(Self { keys: vec![key], identity_key: Some(secret()?) })
    }

    /// Keys that every filter accepts and nobody may use: for checking a configuration, and for printing one.
    pub(crate) fn placeholder() -> Self {
        let secret = || Secret::new(b"placeholder, never signs anything".to_vec());
        let key = RingKey { id: "k1".to_owned(), key: secret(), usage: KeyUse::Sign };
        Self { keys: vec![key], identity_key: Some(secret()) }
    }

    /// Writes the keys to a file that only its owner reads. Does not ask whether there is one.
    pub fn write(&self, path: &Path) -> Result<(), crate::local::Error> {
        let malformed = |source| crate::local::Error::Malformed {
            what: "keys that JSON can hold",
            path: path.to_owned(),
            source,
        };
        let text = serde_json::to_string_pretty(self).map_err(malformed)?;
        crate::local::replace(path, &(text + "\n"))
    }

    /// Reads keys from a file.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let text =
            std::fs::read(path).map_err(|source| KeyError::Unreadable { path: path.to_owned(), source })?;
        serde_json::from_slice(&text).map_err(|source| KeyError::Malformed { path: path.to_owned(), source })
    }
}

/// Draws one.
pub(super) fn secret() -> Result<Secret, getrandom::Error> {
    let mut bytes = vec![0; KEY_LEN];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::new(bytes))
}

impl KeyError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing => {
                Some("`canary-ctl init` draws keys; name their file with `--keys FILE`".to_owned())
            }
            Self::Unreadable { .. } | Self::Malformed { .. } => None,
        }
    }
}
