//! Where a secret stands that a driver needs.

use std::fmt;
use std::path::PathBuf;

/// The source of a secret: the URL of a receiver, a token. It may be printed, and the secret is not. It is read from a file alone, so it is not
/// deserialized: who may write records must not choose which secrets a driver reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// In the file of the release.
    Inline,
    /// In an environment variable of the driver.
    Env(String),
    /// In a file of the driver.
    File(PathBuf),
    /// In a Secret of the release's namespace.
    Secret {
        /// Its name.
        name: String,
        /// The key whose value it is.
        key: String,
    },
}

impl fmt::Display for SecretSource {
    /// Its place, as a part of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline => f.write_str("the file of the release"),
            Self::Env(name) => write!(f, "environment variable `{name}`"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Secret { name, key } => write!(f, "key `{key}` of Secret `{name}`"),
        }
    }
}
