//! Replaces files atomically by rename: readers get the old or the new content, and Envoy watches for the rename.

use super::Error;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Only the owner: the file holds keys.
    Owner,
    /// All users that the process's umask allows.
    Everyone,
}

/// Writes a file that only its owner reads; as [`replace_for`].
pub fn replace(path: &Path, text: &str) -> Result<(), Error> {
    replace_for(Readers::Owner, path, text)
}

/// Writes a file beside its place, makes it durable, and renames it into its place.
///
/// Killed at any moment it leaves the old file or the new one; at most a stray `*.tmp` that the next call replaces.
pub fn replace_for(readers: Readers, path: &Path, text: &str) -> Result<(), Error> {
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::Everyone => 0o666,
    };
    let temporary = path.with_extension("tmp");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(&temporary)
        .map_err(Error::file("write", &temporary))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(Error::file("write", &temporary))?;
    fs::rename(&temporary, path).map_err(Error::file("write", path))?;
    sync_folder(path)
}

/// The rename itself survives a power cut only once the folder is on the disk.
fn sync_folder(path: &Path) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Ok(()),
    };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::file("write", folder))
}

/// Reads a file; `None` if there is none.
pub(super) fn read_if_there(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}
