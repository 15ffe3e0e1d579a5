//! An Envoy process: started, waited for, watched, and ended with the test.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::admin::Admin;
use super::binary::EnvoyBinary;
use super::error::EnvoyError;
use programs::child::LoggedChild;

/// The polling interval for readiness.
const POLL: Duration = Duration::from_millis(20);

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
    /// A program that runs it, with its arguments, e.g. `valgrind`.
    pub under: Vec<String>,
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
            under: Vec::new(),
        }
    }
}

/// A running Envoy. Dropping it kills it and waits; when the test panics, the end of its log is printed first.
#[derive(Debug)]
pub struct Envoy {
    child: LoggedChild,
    admin: Admin,
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
        let mut command = match options.under.split_first() {
            None => Command::new(&binary.path),
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(&binary.path);
                command
            }
        };
        // Without hot restart any number of Envoys can run side by side.
        command.arg("-c").arg(&bootstrap).arg("--disable-hot-restart");
        command.arg("--concurrency").arg(options.concurrency.to_string());
        command.arg("--log-level").arg(options.log_level);
        if let Some(levels) = &options.component_log_level {
            command.arg("--component-log-level").arg(levels);
        }
        command.args(&options.arguments).current_dir(bootstrap.parent().unwrap_or(Path::new("/")));
        let child = LoggedChild::start("envoy", &mut command).map_err(fail)?;
        Ok(Self { child, admin: Admin::new(admin) })
    }

    /// Waits until `/ready` answers 200; an Envoy that ends meanwhile is an error at once.
    pub async fn wait_until_ready(&mut self, within: Duration) -> Result<(), EnvoyError> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.ended() {
                return Err(EnvoyError::Ended { status, log: self.child.log_tail() });
            }
            if self.admin.is_ready().await {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(EnvoyError::NotReady { waited: within, log: self.child.log_tail() });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    pub fn admin(&self) -> &Admin {
        &self.admin
    }

    /// The process id, e.g. to read its CPU time.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Whether the process is still there.
    pub fn is_running(&mut self) -> bool {
        self.child.ended().is_none()
    }

    /// Everything logged so far.
    pub fn log(&self) -> String {
        self.child.log()
    }

    /// The log file; it is deleted with the `Envoy`.
    pub fn log_path(&self) -> PathBuf {
        self.child.log_path()
    }
}
