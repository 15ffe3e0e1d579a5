//! A child process that is killed when its owner is dropped, and whose log is shown where it does not become ready.

use crate::error::Error;
use programs::child::LoggedChild;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: LoggedChild,
}

/// How long a child may take to become ready: machines that show demos are busy.
const TIMEOUT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

impl Process {
    /// Starts a program in a process group of its own: Ctrl-C does not reach it, since its owner ends it in order.
    pub(crate) fn start(name: &'static str, command: &mut Command) -> Result<Self, Error> {
        let child = LoggedChild::start(name, command.process_group(0))
            .map_err(|source| Error::Process { program: name.to_owned(), source })?;
        Ok(Self { name, child })
    }

    /// Calls `probe` with the log until it returns a value.
    ///
    /// # Errors
    /// With the end of the log: the process ended, or the timeout is over.
    pub(crate) async fn ready<T>(
        &mut self,
        mut probe: impl AsyncFnMut(&str) -> Option<T>,
    ) -> Result<T, Error> {
        let started = Instant::now();
        loop {
            if let Some(found) = probe(&self.child.log()).await {
                return Ok(found);
            }
            if let Some(status) = self.child.ended() {
                return Err(self.not_ready(format!("ended with {status}")));
            }
            if started.elapsed() > TIMEOUT {
                return Err(self.not_ready(format!("was not ready after {} s", TIMEOUT.as_secs())));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn not_ready(&self, problem: String) -> Error {
        Error::NotReady { program: self.name, problem, log: self.child.log_tail() }
    }
}
