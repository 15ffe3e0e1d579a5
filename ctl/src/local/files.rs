//! Replaces files atomically by rename: readers get the old or the new content, and Envoy watches for the rename.

use super::Error;
use nix::fcntl::OFlag;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The largest file of a directory: the files of 10,000 releases have some 50 MB.
const MAX_BYTES: u64 = 256 << 20;

/// The end of a new file's name, before it is renamed.
const RANDOM_CHARACTERS: usize = 6;

/// The users that may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Only the owner: the file holds keys.
    Owner,
    /// All users that the process's umask allows.
    Everyone,
}

/// Writes a file that only its owner reads; as [`replace_for`].
///
/// # Errors
///
/// As [`replace_for`].
pub fn replace(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Error> {
    replace_for(Readers::Owner, path, text)
}

/// Writes a new file beside its place, makes it durable, and renames it into its place.
///
/// The new file has a name that nobody has used, is never opened through a link, and has its mode before its first byte. Killed at
/// any moment this leaves the old file or the new one, at most with a stray `.name.*` beside it.
///
/// # Errors
///
/// If no file can be created in the directory, written, or renamed.
pub fn replace_for(readers: Readers, path: &Path, text: impl AsRef<[u8]>) -> Result<(), Error> {
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::Everyone => 0o666,
    };
    let folder = folder_of(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut file = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .rand_bytes(RANDOM_CHARACTERS)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(|error| Error::file("write", path)(not_created(folder, error.kind())))?;
    file.write_all(text.as_ref())
        .and_then(|()| file.as_file().sync_all())
        .map_err(Error::file("write", file.path()))?;
    file.persist(path).map_err(|failed| Error::file("write", path)(failed.error))?;
    sync_folder(folder)
}

/// The system's text names the temporary file, which no user has asked for.
fn not_created(folder: &Path, kind: ErrorKind) -> std::io::Error {
    match kind {
        ErrorKind::NotFound => {
            std::io::Error::new(kind, format!("the folder {} does not exist", folder.display()))
        }
        _ => kind.into(),
    }
}

/// Creates a directory for files that hold keys, readable by its owner alone. One that exists stays as it is.
pub(super) fn create_directory(path: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Error::file("create", path))
}

/// Deletes what a [`replace`] of these files that was killed has left beside them. No other process may be writing them.
pub(super) fn delete_strays(files: &[PathBuf]) {
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!(".{name}.");
        let entries = std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten();
        for entry in entries {
            let random = entry.file_name().to_string_lossy().strip_prefix(&prefix).map(str::len);
            let is_stray =
                random == Some(RANDOM_CHARACTERS) && entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_stray {
                // What cannot be deleted is in no way of the next write, which has a name of its own.
                std::fs::remove_file(entry.path()).ok();
            }
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// The rename itself survives a power cut only once the folder is on the disk.
fn sync_folder(folder: &Path) -> Result<(), Error> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::file("write", folder))
}

/// Reads a file; `None` if there is none.
pub(super) fn read_if_there(path: &Path) -> Result<Option<String>, Error> {
    match open(path).and_then(read) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}

/// Opens a file for reading. A pipe without a writer would be waited for, and a device is read for ever.
pub(super) fn open(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(std::io::Error::new(ErrorKind::InvalidInput, "expected a regular file, found another kind"))
}

fn read(file: File) -> std::io::Result<String> {
    let mut text = String::new();
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|read| read <= MAX_BYTES) {
        return Ok(text);
    }
    let message = format!("expected at most {MAX_BYTES} bytes, found more");
    Err(std::io::Error::new(ErrorKind::FileTooLarge, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn keys_are_readable_by_their_owner_alone_whatever_lay_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, elsewhere) = (folder.path().join("keys.json"), folder.path().join("elsewhere"));
        for before in ["nothing", "a file that everyone reads", "a link"] {
            match before {
                "a file that everyone reads" => {
                    fs::set_permissions(&keys, Permissions::from_mode(0o644)).unwrap();
                }
                "a link" => {
                    fs::remove_file(&keys).unwrap();
                    fs::write(&elsewhere, "theirs").unwrap();
                    std::os::unix::fs::symlink(&elsewhere, &keys).unwrap();
                }
                _ => {}
            }
            replace(&keys, "secret").unwrap();
            assert_eq!(
                (fs::read_to_string(&keys).unwrap().as_str(), mode(&keys)),
                ("secret", 0o600),
                "{before}"
            );
        }
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "theirs");
    }

    #[test]
    fn nothing_of_a_user_is_replaced_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("canary.tmp");
        fs::write(&theirs, "theirs").unwrap();
        replace_for(Readers::Everyone, &folder.path().join("canary.yaml"), "ours").unwrap();
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no stray file is left");
    }

    #[test]
    fn what_a_killed_write_has_left_is_deleted_and_nothing_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state.json");
        let kept = [
            "state.json",
            ".state.json.swp",
            ".state.json.a1b2c3d",
            ".other.json.a1b2c3",
            "state.json.a1b2c3",
        ];
        for name in kept.into_iter().chain([".state.json.a1b2c3", ".state.json.XyZ123"]) {
            fs::write(folder.path().join(name), "text").unwrap();
        }
        fs::create_dir(folder.path().join(".state.json.folder")).unwrap();
        delete_strays(&[state]);
        let left = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut expected: Vec<String> = kept.map(str::to_owned).to_vec();
        expected.push(".state.json.folder".to_owned());
        expected.sort();
        let mut left: Vec<String> = left.collect();
        left.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn what_is_no_regular_file_and_what_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", path("device")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        File::create(path("large")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        for (name, expected) in [
            ("device", "expected a regular file, found another kind"),
            ("pipe", "expected a regular file, found another kind"),
            (".", "expected a regular file, found another kind"),
            ("large", "expected at most 268435456 bytes, found more"),
        ] {
            let error = read_if_there(&path(name)).unwrap_err();
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert_eq!(cause, expected, "{name}");
        }
        assert_eq!(read_if_there(&path("missing")).unwrap(), None);
    }

    #[test]
    fn a_directory_with_keys_is_readable_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        create_directory(&inner).unwrap();
        assert_eq!((mode(&inner), mode(&folder.path().join("a"))), (0o700, 0o700));
    }
}
