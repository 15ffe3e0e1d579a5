//! A child process with its log in a file: killed by its id when the test ends, however it ends.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use tempfile::TempDir;

/// How much of the log an error or a failing test shows, in lines.
const LOG_TAIL: usize = 60;

/// A running program. Dropping it kills it and waits; when the test panics, the end of its log is printed.
#[derive(Debug)]
pub struct LoggedChild {
    name: &'static str,
    child: Child,
    directory: TempDir,
}

impl LoggedChild {
    /// Starts this command with nothing to read, and its output and errors in one file.
    pub fn start(name: &'static str, command: &mut Command) -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let log = File::create(directory.path().join("log"))?;
        let errors = log.try_clone()?;
        let child = command.stdin(Stdio::null()).stdout(log).stderr(errors).spawn()?;
        Ok(Self { name, child, directory })
    }

    /// The process id, e.g. to read its CPU time or to send a signal.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended; `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills it now and waits.
    pub fn kill(&mut self) {
        // Either may fail only because the process has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Everything logged so far; bytes that are not UTF-8 become U+FFFD.
    pub fn log(&self) -> String {
        std::fs::read(self.log_path())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// The last lines logged so far.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines.get(lines.len().saturating_sub(LOG_TAIL)..).unwrap_or_default().join("\n")
    }

    /// The log file; it is gone with the process.
    pub fn log_path(&self) -> PathBuf {
        self.directory.path().join("log")
    }
}

impl Drop for LoggedChild {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            report(self.name, &self.log_tail());
        }
    }
}

#[expect(clippy::print_stderr, reason = "the test harness shows it together with the failed assertion")]
fn report(name: &str, log: &str) {
    eprintln!("--- the end of the log of {name} ---\n{log}\n--- end ---");
}
