//! A pod as a process: its names by arguments, its end by SIGTERM or Ctrl-C, its words on stderr.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::life::Stopped;
use crate::pod::{ConfigError, PodConfig};

/// The arguments that every pod has.
#[derive(Debug, clap::Args)]
pub struct PodArgs {
    /// Version this pod is of
    #[arg(long = "version", env = "SHOP_VERSION", value_name = "NAME")]
    name: String,
    /// Name of this pod
    #[arg(long, env = "SHOP_POD", value_name = "NAME")]
    pod: String,
    /// Seconds to serve on after SIGTERM while /healthz answers 503, so that proxies can hear of it
    #[arg(long, default_value_t = 0, env = "SHOP_LINGER", value_name = "SECONDS")]
    linger: u64,
    /// Seconds that requests in flight have to finish after that
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    grace: u64,
}

impl PodArgs {
    /// What they mean.
    ///
    /// # Errors
    /// Those of [`PodConfig::new`].
    pub fn config(&self) -> Result<PodConfig, ConfigError> {
        let config = PodConfig::new(&self.name, &self.pod)?;
        Ok(config.with_linger(Duration::from_secs(self.linger)).with_grace(Duration::from_secs(self.grace)))
    }
}

/// A process that handles signals from now on, and prints its events.
#[derive(Debug)]
pub struct Process {
    names: String,
    terminate: Signal,
    interrupt: Signal,
}

impl Process {
    /// The process of this pod. Create it before the address is printed: a reader of the address may send a signal at
    /// once.
    ///
    /// # Errors
    /// If the signal handlers cannot be installed.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn new(program: &str, config: &PodConfig) -> anyhow::Result<Self> {
        Ok(Self {
            names: format!("{program} {} {}", config.version(), config.pod()),
            terminate: signal(SignalKind::terminate()).context("listen for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("listen for Ctrl-C")?,
        })
    }

    /// Prints the pod's address, and waits until the process is to end.
    pub async fn until_told(&mut self, local_addr: SocketAddr) {
        say(&format!("{}: listening on http://{local_addr}", self.names));
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Prints how the pod ended.
    pub fn ended(&self, how: Stopped) {
        match how {
            Stopped::Clean => say(&format!("{}: stopped", self.names)),
            Stopped::Cut => say(&format!("{}: stopped, requests were still in flight", self.names)),
        }
    }
}

/// A listener at this address.
///
/// # Errors
/// When there can be none; the address is named.
pub async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))
}

/// One line to stderr; a closed stderr is no reason to stop serving.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
