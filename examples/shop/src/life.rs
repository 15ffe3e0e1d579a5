//! How a pod ends: after the stop request its readiness fails and it continues to serve; then every task finishes its
//! work; then the remaining tasks are cancelled.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::pod::PodConfig;

/// The end of one pod, which all its tasks watch.
#[derive(Debug)]
pub(crate) struct Life {
    /// The stop was requested: the pod is not ready any more, but still serves new connections.
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

    /// The result of a readiness probe.
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
