//! The signing keys of a release on this machine, in a file that only its owner reads.

use super::{Error, replace};
use canary_release::config::SigningKeys;
use std::path::Path;

/// Writes the keys, and replaces an existing file.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_keys(keys: &SigningKeys, path: &Path) -> Result<(), Error> {
    let malformed =
        |source| Error::Malformed { what: "keys that JSON can hold", path: path.to_owned(), source };
    let text = serde_json::to_string_pretty(keys).map_err(malformed)?;
    replace(path, &(text + "\n"))
}
