//! Users who keep asking while something changes: what a change does to requests in flight is seen only under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{JoinError, JoinHandle};

use crate::client::User;
use crate::client::load::{Plan, Report, run};

/// Users on the move in the background, until they are called back.
#[derive(Debug)]
pub struct Crowd {
    stop: Arc<AtomicBool>,
    task: JoinHandle<(Vec<User>, Report)>,
}

impl Crowd {
    /// Sends the users round after round of this plan; at least one.
    pub fn start(users: Vec<User>, plan: Plan) -> Self {
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
