//! A child process that is killed when its owner goes, whichever way that is, and whose log is kept in a file.

use super::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// A running child.
#[derive(Debug)]
pub(super) struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

/// How long a child may take to be ready: machines that show demos are busy.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);
/// Lines of a log that an error shows.
const TAIL: usize = 12;

impl Process {
    /// Starts a program with its output in a file of `folder`. Ctrl-C does not reach it: we end it ourselves, in order.
    pub(super) fn start(name: &str, command: &mut Command, folder: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Process { program: name.to_owned(), source };
        let log = folder.join(format!("{name}.log"));
        let file = File::create(&log).map_err(failed)?;
        let other = file.try_clone().map_err(failed)?;
        command.stdin(Stdio::null()).stdout(file).stderr(other).kill_on_drop(true).process_group(0);
        let child = command.spawn().map_err(failed)?;
        Ok(Self { name: name.to_owned(), child, log })
    }

    /// Looks at its log, and at whatever else there is, until something is found.
    pub(super) async fn ready<T>(
        &mut self,
        mut look: impl AsyncFnMut(&str) -> Option<T>,
    ) -> Result<T, Error> {
        let begun = Instant::now();
        loop {
            if let Some(found) = look(&self.log()).await {
                return Ok(found);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(self.not_ready(format!("ended with {status}")));
            }
            if begun.elapsed() > PATIENCE {
                return Err(self.not_ready(format!("was not ready after {} s", PATIENCE.as_secs())));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Kills it and waits until it is gone.
    pub(super) async fn end(mut self) {
        // One that is gone already is what is wanted.
        let _gone = self.child.kill().await;
    }

    /// Everything it has said so far; empty where the file cannot be read.
    fn log(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    fn not_ready(&self, what: String) -> Error {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(TAIL)..).unwrap_or_default().join("\n");
        Error::NotReady { program: self.name.clone(), what, log: tail }
    }
}
