//! Waits until every proxy that serves a release runs a generation of it.

use crate::{Cluster, Error};
use canary_release::record::Record;
use canary_release::status::ProxyStatus;
use std::time::Duration;
use tokio::time::Instant;

/// The polling interval. Each poll costs the API server one list and a request for each proxy.
const PAUSE: Duration = Duration::from_millis(100);

/// The timeout of a wait, and its progress callback.
pub struct WaitOptions<'a> {
    /// After so long it is an error.
    pub timeout: Duration,
    /// Called whenever the number of proxies that run it has changed, with that number and the number of all.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// A generation that runs everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// How long it took.
    pub waited: Duration,
    /// The proxies that run it. None where no proxy serves the release.
    pub proxies: Vec<ProxyStatus>,
}

impl Cluster {
    /// Waits until every ready proxy runs this generation or a later one. Proxies that become ready meanwhile are
    /// waited for too.
    ///
    /// # Errors
    ///
    /// If a proxy does not run it within the timeout; the error lists those. If the proxies cannot be read.
    pub async fn wait(
        &self,
        release: &str,
        record: &Record,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Arrival, Error> {
        let begun = Instant::now();
        let generation = record.state.generation;
        let mut told = None;
        loop {
            let proxies = self.proxies(release, record).await?;
            let running = proxies.iter().filter(|proxy| proxy.runs(generation)).count();
            if told.replace((running, proxies.len())) != Some((running, proxies.len())) {
                (waiting.progress)(running, proxies.len());
            }
            let waited = begun.elapsed();
            if running == proxies.len() {
                return Ok(Arrival { waited, proxies });
            }
            if waited >= waiting.timeout {
                let behind = proxies.into_iter().filter(|proxy| !proxy.runs(generation)).collect();
                return Err(Error::Late { generation, behind, waited });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
