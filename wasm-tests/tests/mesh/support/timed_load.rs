//! Users under way in the background; each response with the time at which its request was sent.

use browser::{Kind, User, Visit};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Users who send requests, one after the other, until they are stopped.
pub(crate) struct TimedLoad {
    begun: Instant,
    is_over: Arc<AtomicBool>,
    users: JoinSet<Vec<TimedResponse>>,
}

/// One response, or why there was none.
#[derive(Clone, Debug)]
pub(crate) struct TimedResponse {
    /// When the request was sent, since the load began.
    pub(crate) sent: Duration,
    pub(crate) took: Duration,
    /// The status, or the error.
    pub(crate) outcome: String,
    /// The connection had been closed by the server since the last request.
    pub(crate) reopened: bool,
    /// The server announced that it closes the connection.
    pub(crate) closing: bool,
}

impl TimedLoad {
    /// Each user has a connection of its own, and waits so long between a response and the next request.
    pub(crate) fn start(users: Vec<User>, path: &'static str, between: Duration) -> Self {
        let (begun, is_over) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let mut running = JoinSet::new();
        for mut user in users {
            let is_over = Arc::clone(&is_over);
            running.spawn(async move {
                let mut responses = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    responses.push(request(&mut user, path, begun).await);
                    tokio::time::sleep(between).await;
                }
                responses
            });
        }
        Self { begun, is_over, users: running }
    }

    /// The time since it began.
    pub(crate) fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Lets every user receive the response under way; all responses, in the order in which the requests were sent.
    pub(crate) async fn stop(self) -> TimedResponses {
        self.is_over.store(true, Ordering::Relaxed);
        let mut responses: Vec<TimedResponse> = self.users.join_all().await.concat();
        responses.sort_by_key(|response| response.sent);
        TimedResponses(responses)
    }
}

async fn request(user: &mut User, path: &str, begun: Instant) -> TimedResponse {
    let sent = begun.elapsed();
    let (outcome, reopened, closing) = match user.send(&Visit::new(Kind::Navigate, path)).await {
        Ok(response) => (response.status.to_string(), response.reopened, response.closing),
        Err(error) => (error.to_string(), false, false),
    };
    TimedResponse { sent, took: begun.elapsed().saturating_sub(sent), outcome, reopened, closing }
}

/// What a load has received.
pub(crate) struct TimedResponses(pub(crate) Vec<TimedResponse>);

impl TimedResponses {
    /// Those without a response, or with another status than 200.
    pub(crate) fn failures(&self) -> Vec<&TimedResponse> {
        self.0.iter().filter(|response| response.outcome != "200").collect()
    }
}

impl fmt::Display for TimedResponses {
    /// Responses by second: how many, the longest, and the failures by status.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut seconds: BTreeMap<u64, Vec<&TimedResponse>> = BTreeMap::new();
        for response in &self.0 {
            seconds.entry(response.sent.as_secs()).or_default().push(response);
        }
        for (second, responses) in seconds {
            let longest =
                responses.iter().map(|response| response.took.as_millis()).max().unwrap_or_default();
            let reopened = responses.iter().filter(|response| response.reopened).count();
            let closing = responses.iter().filter(|response| response.closing).count();
            write!(
                f,
                "{second:3} s: {:4} requests, {longest:5} ms at most, {closing} closed with notice, {reopened} reopened",
                responses.len()
            )?;
            let mut failed: BTreeMap<&str, usize> = BTreeMap::new();
            for response in responses.iter().filter(|response| response.outcome != "200") {
                *failed.entry(&response.outcome).or_default() += 1;
            }
            writeln!(
                f,
                "{}",
                if failed.is_empty() { String::new() } else { format!(", failed: {failed:?}") }
            )?;
        }
        Ok(())
    }
}
