//! The Envoys that the tests run against, one of each supported minor version.

use std::path::PathBuf;

use super::error::EnvoyError;
use programs::artifact;

/// The supported minor versions, oldest first.
pub const MINORS: [&str; 5] = ["1.36", "1.37", "1.38", "1.39", "1.40"];

/// An installed Envoy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvoyBinary {
    /// Its minor version, e.g. `1.40`.
    pub minor: &'static str,
    pub path: PathBuf,
}

/// Every supported Envoy; an error names the first that is missing, so that no version is skipped silently.
pub fn minors() -> Result<Vec<EnvoyBinary>, EnvoyError> {
    MINORS.into_iter().map(binary).collect()
}

/// The Envoys of a test that holds for each: the oldest and the newest, and all where `EVERY_ENVOY` is set (`./x test long`).
pub fn each_tested() -> Result<Vec<EnvoyBinary>, EnvoyError> {
    let mut all = minors()?;
    if std::env::var_os("EVERY_ENVOY").is_none() {
        all.drain(1..all.len() - 1);
    }
    Ok(all)
}

/// The newest supported Envoy, for tests that one version is enough for.
pub fn newest() -> Result<EnvoyBinary, EnvoyError> {
    let [.., newest] = MINORS;
    binary(newest)
}

fn binary(minor: &'static str) -> Result<EnvoyBinary, EnvoyError> {
    Ok(EnvoyBinary { minor, path: artifact::envoy(minor)? })
}
