//! The signing and verifying keys: read from a file, or drawn for `init` and the local target.

use crate::input_file;
use assignment::contract::{KeyUse, RingKey, Secret};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The ring, and the secret behind `identity: keyed`. As JSON: `{"keys": [...], "identityKey": "..."}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SigningKeys {
    /// The ring.
    pub keys: Vec<RingKey>,
    /// The secret behind `identity: keyed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_key: Option<Secret>,
}

/// The error of keys that cannot be used.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No file of keys is configured.
    #[error("expected a file of keys, found none: pins, minted ids and tokens are signed")]
    Missing,
    /// The file cannot be read.
    #[error("cannot read the keys from {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file has another shape.
    #[error("expected keys as JSON in {}, found something else", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
    },
}

/// The bytes of a key: as many as SHA-256 gives out.
const KEY_LEN: usize = 32;

impl SigningKeys {
    /// Draws a new ring of one signing key, and an identity key.
    ///
    /// # Errors
    ///
    /// If the system has no randomness.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let key = RingKey { id: "k1".to_owned(), key: secret()?, usage: KeyUse::Sign };
        Ok(Self { keys: vec![key], identity_key: Some(secret()?) })
    }

    /// Keys that every filter accepts and that must not sign anything: for checking a configuration, and for printing
    /// one.
    pub fn placeholder() -> Self {
        let secret = || Secret::new(b"placeholder, never signs anything".to_vec());
        let key = RingKey { id: "k1".to_owned(), key: secret(), usage: KeyUse::Sign };
        Self { keys: vec![key], identity_key: Some(secret()) }
    }

    /// Reads keys from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no keys.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let text = input_file::read(path)
            .map_err(|source| KeyError::Unreadable { path: path.to_owned(), source })?;
        serde_json::from_str(&text).map_err(|_| KeyError::Malformed { path: path.to_owned() })
    }
}

/// Draws one.
pub(super) fn secret() -> Result<Secret, getrandom::Error> {
    let mut bytes = vec![0; KEY_LEN];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::new(bytes))
}
