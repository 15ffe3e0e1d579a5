//! Where a secret stands that a driver needs.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Where a secret stands: the URL of a receiver, a token. It may be recorded and printed, and the secret is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SecretSource {
    /// In the file of the release.
    Inline,
    /// In an environment variable of the driver.
    Env(String),
    /// In a file of the driver.
    File(PathBuf),
    /// In a Secret of the release's namespace.
    #[serde(rename_all = "camelCase")]
    Secret {
        /// Its name.
        name: String,
        /// The key whose value it is.
        key: String,
    },
}

impl fmt::Display for SecretSource {
    /// Where it stands, as a part of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline => f.write_str("the file of the release"),
            Self::Env(name) => write!(f, "environment variable `{name}`"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Secret { name, key } => write!(f, "key `{key}` of Secret `{name}`"),
        }
    }
}
