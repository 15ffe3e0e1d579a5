//! The child process: started with its log in a file, waited for, and killed by its id when the test ends, however it ends.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::admin::Admin;
use super::binary::EnvoyBinary;
use super::error::EnvoyError;

/// How often readiness is asked for.
const POLL: Duration = Duration::from_millis(20);
/// How much of the log an error or a failing test shows, in lines.
const LOG_TAIL: usize = 60;

/// How an Envoy is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Worker threads.
    pub concurrency: u32,
    /// `--log-level`.
    pub log_level: &'static str,
    /// `--component-log-level`, e.g. `wasm:debug`.
    pub component_log_level: Option<String>,
    /// How long it has to become ready.
    pub ready_within: Duration,
    /// Further arguments, e.g. `--drain-time-s 2`.
    pub arguments: Vec<String>,
}

impl Default for Options {
    /// Two workers, level info, 30 seconds (machines that test are busy).
    fn default() -> Self {
        Self {
            concurrency: 2,
            log_level: "info",
            component_log_level: None,
            ready_within: Duration::from_secs(30),
            arguments: Vec::new(),
        }
    }
}

/// A running Envoy. Dropping it kills it and waits; when the test panics, the end of its log is printed first.
#[derive(Debug)]
pub struct Envoy {
    child: Child,
    admin: Admin,
    directory: TempDir,
}

impl Envoy {
    /// Starts this Envoy with this bootstrap, whose admin interface is at `admin`, and waits until it is ready.
    ///
    /// Relative paths in the bootstrap are relative to the folder that it is in.
    pub async fn start(
        binary: &EnvoyBinary,
        bootstrap: &Path,
        admin: SocketAddr,
        options: &Options,
    ) -> Result<Self, EnvoyError> {
        let mut envoy = Self::spawn(binary, bootstrap, admin, options)?;
        envoy.wait_until_ready(options.ready_within).await?;
        Ok(envoy)
    }

    /// As [`Envoy::start`], without waiting: for an Envoy that is not meant to become ready.
    pub fn spawn(
        binary: &EnvoyBinary,
        bootstrap: &Path,
        admin: SocketAddr,
        options: &Options,
    ) -> Result<Self, EnvoyError> {
        let fail = |source| EnvoyError::Start { binary: binary.path.clone(), source };
        let bootstrap = std::path::absolute(bootstrap).map_err(fail)?;
        let directory = tempfile::tempdir().map_err(fail)?;
        let log = File::create(directory.path().join("envoy.log")).map_err(fail)?;
        let errors = log.try_clone().map_err(fail)?;
        let mut command = Command::new(&binary.path);
        // Without hot restart any number of Envoys can run side by side.
        command.arg("-c").arg(&bootstrap).arg("--disable-hot-restart");
        command.arg("--concurrency").arg(options.concurrency.to_string());
        command.arg("--log-level").arg(options.log_level);
        if let Some(levels) = &options.component_log_level {
            command.arg("--component-log-level").arg(levels);
        }
        command.args(&options.arguments).current_dir(bootstrap.parent().unwrap_or(Path::new("/")));
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn().map_err(fail)?;
        Ok(Self { child, admin: Admin::new(admin), directory })
    }

    /// Waits until `/ready` answers 200; an Envoy that ends meanwhile is an error at once.
    pub async fn wait_until_ready(&mut self, within: Duration) -> Result<(), EnvoyError> {
        let deadline = Instant::now() + within;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(EnvoyError::Ended { status, log: self.log_tail() });
            }
            if self.admin.is_ready().await {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(EnvoyError::NotReady { waited: within, log: self.log_tail() });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The admin interface.
    pub fn admin(&self) -> &Admin {
        &self.admin
    }

    /// The process id, e.g. to read its CPU time.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process is still there.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Everything logged so far.
    pub fn log(&self) -> String {
        std::fs::read(self.log_path())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// The log file; it is gone with the `Envoy`.
    pub fn log_path(&self) -> PathBuf {
        self.directory.path().join("envoy.log")
    }

    fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines.get(lines.len().saturating_sub(LOG_TAIL)..).unwrap_or_default().join("\n")
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        // Either may fail only because the process has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
        if std::thread::panicking() {
            report(&self.log_tail());
        }
    }
}

#[expect(clippy::print_stderr, reason = "the test harness shows it together with the failed assertion")]
fn report(log: &str) {
    eprintln!("--- the end of envoy's log ---\n{log}\n--- end ---");
}
