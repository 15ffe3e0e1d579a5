//! The demo shop as child processes: stateful pods of two versions, for Envoy to route to.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use programs::artifact::{self, MissingArtifact};
use programs::child::LoggedChild;

/// It starts in milliseconds; machines that test are busy.
const DEADLINE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

/// Why there is no shop.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    /// It has not been built.
    #[error(transparent)]
    Missing(#[from] MissingArtifact),
    /// The process could not be made.
    #[error("cannot start the shop: {0}")]
    Start(#[from] std::io::Error),
    /// It did not say where it listens.
    #[error("the shop did not listen within {DEADLINE:?}; its log:\n{log}")]
    NotReady {
        /// Its whole output.
        log: String,
    },
}

/// One pod of one version. Dropping it kills it, and its sessions and carts are lost.
#[derive(Debug)]
pub struct Shop {
    child: LoggedChild,
    address: SocketAddr,
}

impl Shop {
    /// Starts a pod on a free port and waits until it listens. Its session cookie is `JSESSIONID`.
    pub async fn start(version: &str, pod: &str) -> Result<Self, ShopError> {
        Self::start_at(([127, 0, 0, 1], 0).into(), version, pod).await
    }

    /// As [`Shop::start`], at this address: a pod that restarts at its address, without its memory.
    pub async fn start_at(listen: SocketAddr, version: &str, pod: &str) -> Result<Self, ShopError> {
        let listen = listen.to_string();
        let mut command = Command::new(artifact::demo_shop()?);
        command.args(["--listen", &listen, "--version", version, "--pod", pod]);
        let child = LoggedChild::start("demo-shop", &mut command)?;
        let deadline = Instant::now() + DEADLINE;
        loop {
            let log = child.log();
            // The line is complete when its end was read.
            let address = log.split_once("listening on http://").and_then(|(_, rest)| rest.split_once('\n'));
            if let Some(address) = address.and_then(|(address, _)| address.parse().ok()) {
                return Ok(Self { child, address });
            }
            if Instant::now() >= deadline {
                return Err(ShopError::NotReady { log });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The process, e.g. to kill it or to send it a signal.
    pub fn process(&mut self) -> &mut LoggedChild {
        &mut self.child
    }
}
