//! The signing keys of a release on this machine, in a file that only its owner reads.

use super::{Error, files, replace};
use canary_release::config::{self, SigningKeys};
use nix::unistd::Uid;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
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

/// Reads the keys that this tool has drawn, at a place where it draws them; `None` if there are none.
///
/// # Errors
///
/// If they are not keys, or are not the user's alone: a file that came with a repository or an archive is readable by others, and who
/// made it can forge pins.
pub fn read_own_keys(path: &Path) -> Result<Option<SigningKeys>, Error> {
    let file = match files::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(Error::file("read", path))?,
    };
    let metadata = file.metadata().map_err(Error::file("read", path))?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o777);
    if owner != Uid::effective().as_raw() || mode & 0o077 != 0 {
        return Err(Error::SharedKeys { path: path.to_owned(), owner, mode });
    }
    Ok(Some(SigningKeys::read(path).map_err(config::Error::from)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn keys_that_others_can_read_are_not_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        assert!(read_own_keys(&path).unwrap().is_none());
        write_keys(&SigningKeys::draw().unwrap(), &path).unwrap();
        assert!(read_own_keys(&path).unwrap().is_some());
        for mode in [0o644, 0o640, 0o604, 0o660] {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = read_own_keys(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("with mode {mode:o}")), "{error}");
        }
        nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        assert!(read_own_keys(&folder.path().join("pipe")).is_err(), "and does not wait for a writer");
    }
}
