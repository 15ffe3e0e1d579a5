//! Users who send requests during a change: its effect on requests in flight shows only under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{JoinError, JoinHandle};

use browser::User;
use browser::load::{LoadProfile, Report, run};

/// Users on the move in the background, until they are called back.
#[derive(Debug)]
pub struct Crowd {
    stop: Arc<AtomicBool>,
    task: JoinHandle<(Vec<User>, Report)>,
}

impl Crowd {
    /// Sends the users round after round of this plan; at least one.
    pub fn start(users: Vec<User>, plan: LoadProfile) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            let (mut users, mut report) = run(users, &plan).await;
            while !stopped.load(Ordering::Relaxed) {
                let (back, later) = run(users, &plan).await;
                users = back;
                report.append(later);
            }
            (users, report)
        });
        Self { stop, task }
    }

    /// Calls them back after the round that they are in.
    pub async fn stop(self) -> Result<(Vec<User>, Report), JoinError> {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await
    }
}
