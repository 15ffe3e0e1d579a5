//! Waits until every proxy that serves a release runs a generation of it.

use super::{Cluster, Error, Proxy};
use crate::plan::Record;
use std::time::{Duration, Instant};

/// Between two looks: a look costs the API server one list and a request for each proxy.
const PAUSE: Duration = Duration::from_millis(100);

/// How long to wait, and whom to tell.
pub struct WaitOptions<'a> {
    /// After so long it is an error.
    pub patience: Duration,
    /// Told whenever the number of proxies that run it has changed: those that do, and all.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// A generation that runs everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// How long it took.
    pub waited: Duration,
    /// The proxies that run it. None where no proxy serves the release.
    pub proxies: Vec<Proxy>,
}

impl Cluster {
    /// Waits until every ready proxy runs this generation or a later one. Proxies that become ready meanwhile are waited
    /// for too. Fails with those that do not run it in time.
    pub async fn wait(
        &self,
        release: &str,
        record: &Record,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Arrival, Error> {
        let begun = Instant::now();
        let generation = record.standing.generation;
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
            if waited >= waiting.patience {
                let behind = proxies.into_iter().filter(|proxy| !proxy.runs(generation)).collect();
                return Err(Error::Late { generation, behind, waited });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
