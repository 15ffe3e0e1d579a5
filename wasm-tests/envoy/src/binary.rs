//! The Envoys that the tests run against, one of each supported minor version.

use std::path::PathBuf;

use super::error::EnvoyError;
use programs::artifact;

/// The supported minor versions, oldest first: those of `tools/envoy.sh`.
const MINORS: [&str; 5] = ["1.36", "1.37", "1.38", "1.39", "1.40"];

/// An installed Envoy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvoyBinary {
    /// Its minor version, e.g. `1.40`.
    pub minor: &'static str,
    pub path: PathBuf,
}

/// The Envoys of a test that holds for each: the oldest and the newest, and all where `EVERY_ENVOY` is set (`./x test long`).
///
/// # Errors
/// The first that is missing: no version is skipped silently.
pub fn each_tested() -> Result<Vec<EnvoyBinary>, EnvoyError> {
    if std::env::var_os("EVERY_ENVOY").is_some() {
        return MINORS.into_iter().map(binary).collect();
    }
    Ok(vec![oldest()?, newest()?])
}

/// The oldest supported Envoy.
pub fn oldest() -> Result<EnvoyBinary, EnvoyError> {
    let [oldest, ..] = MINORS;
    binary(oldest)
}

/// The newest supported Envoy, for tests that one version is enough for.
pub fn newest() -> Result<EnvoyBinary, EnvoyError> {
    let [.., newest] = MINORS;
    binary(newest)
}

fn binary(minor: &'static str) -> Result<EnvoyBinary, EnvoyError> {
    Ok(EnvoyBinary { minor, path: artifact::envoy(minor)? })
}
