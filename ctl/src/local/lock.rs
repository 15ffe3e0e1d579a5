//! One writer at a time. The kernel releases the lock when the process ends, however it ends.

use super::{Error, Layout, files};
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, Instant};

/// The right to write to a directory, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// How long another writer is waited for. A write takes milliseconds; a longer one is waiting for Envoy.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

impl Lock {
    /// Takes the lock, and creates the directory if there is none.
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
            .open(&path)
            .map_err(Error::file("open", &path))?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Busy { directory: layout.directory().to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(Error::file("lock", path)(error)),
            }
        }
    }
}
