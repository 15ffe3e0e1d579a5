//! One writer at a time. The kernel releases the lock when the process ends, however it ends.

use super::{Error, Layout, files};
use nix::fcntl::OFlag;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, Instant};

/// The right to write to a directory, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// The wait for another writer. A write takes milliseconds; a longer one is waiting for Envoy.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

impl Lock {
    /// Takes the lock, and creates the directory if there is none. What a writer that was killed has left is deleted.
    ///
    /// # Errors
    ///
    /// If another writer does not end in time.
    pub async fn take(layout: &Layout) -> Result<Self, Error> {
        files::create_directory(layout.directory())?;
        let path = layout.lock();
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            // A link in its place could name any file, which would be created.
            .custom_flags(OFlag::O_NOFOLLOW.bits() | OFlag::O_NONBLOCK.bits())
            .open(&path)
            .map_err(Error::file("open", &path))?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    files::delete_strays(&layout.replaced());
                    return Ok(Self { _file: file });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Busy { directory: layout.directory().to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(Error::file("lock", path)(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_next_writer_deletes_what_a_killed_one_has_left() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path().join("local"));
        drop(Lock::take(&layout).await.unwrap());
        for path in layout.replaced() {
            let name = format!(".{}.a1b2c3", path.file_name().unwrap().display());
            std::fs::write(path.with_file_name(name), "half").unwrap();
        }
        let _lock = Lock::take(&layout).await.unwrap();
        let left = std::fs::read_dir(layout.directory()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["lock"]);
    }

    #[tokio::test]
    async fn a_link_in_the_place_of_the_lock_creates_nothing_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, elsewhere) = (Layout::new(folder.path().join("local")), folder.path().join("elsewhere"));
        files::create_directory(layout.directory()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, layout.lock()).unwrap();
        let error = Lock::take(&layout).await.unwrap_err();
        assert_eq!(error.to_string(), format!("cannot open {}", layout.lock().display()));
        assert!(!elsewhere.exists(), "nothing is created");
    }
}
