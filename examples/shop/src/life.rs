//! How a pod ends: told, it fails its readiness and serves on; then every task finishes what it does; then what is left is cut.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::pod::PodConfig;

/// The end of one pod, which all its tasks watch.
#[derive(Debug)]
pub(crate) struct Life {
    /// Told to stop: no new connections are wanted, but those that come are served.
    leaving: CancellationToken,
    /// Every task is to finish what it does.
    pub(crate) stopping: CancellationToken,
    /// Every task is to drop what it does.
    pub(crate) killed: CancellationToken,
    pub(crate) tasks: TaskTracker,
    linger: Duration,
    grace: Duration,
}

/// How a stop went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Every request in flight was answered.
    Clean,
    /// The grace was over before that, and what was left was cut.
    Cut,
}

impl Life {
    pub(crate) fn new(config: &PodConfig) -> Self {
        Self {
            leaving: CancellationToken::new(),
            stopping: CancellationToken::new(),
            killed: CancellationToken::new(),
            tasks: TaskTracker::new(),
            linger: config.linger(),
            grace: config.grace(),
        }
    }

    /// What a readiness probe is to be told.
    pub(crate) fn is_ready(&self) -> bool {
        !self.leaving.is_cancelled()
    }

    pub(crate) async fn stop(&self) -> Stopped {
        self.leaving.cancel();
        tokio::time::sleep(self.linger).await;
        self.stopping.cancel();
        self.tasks.close();
        if tokio::time::timeout(self.grace, self.tasks.wait()).await.is_ok() {
            return Stopped::Clean;
        }
        self.kill().await;
        Stopped::Cut
    }

    pub(crate) async fn kill(&self) {
        self.leaving.cancel();
        self.killed.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
