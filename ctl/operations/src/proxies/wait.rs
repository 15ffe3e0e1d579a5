//! Waits until every proxy that serves a release runs a generation of it.

use crate::stores::stored_record::FoundRecord;
use crate::{Cluster, Error};
use canary_release::metrics::ReleaseGeneration;
use canary_release::object::{Reference, Stage};
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use canary_release::status::ProxyStatus;
use serde_json::Value;
use std::collections::BTreeMap;
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
    /// The time that it took.
    pub waited: Duration,
    /// The proxies that run it. None where no proxy serves the release.
    pub proxies: Vec<ProxyStatus>,
    /// The proxies that could not be asked, and why, where the check `unseen-proxies` is skipped.
    pub not_observed: Vec<String>,
}

impl Cluster {
    /// Waits until every ready proxy runs this generation, or one that another operator has written since. Proxies that become
    /// ready meanwhile are waited for too.
    ///
    /// # Errors
    ///
    /// If a proxy does not run it within the timeout; the error lists those. If the proxies cannot be read, unless
    /// [`WriteOptions::unseen_proxies_wait`](crate::WriteOptions::unseen_proxies_wait) says how long they are waited for instead. If
    /// an object of the filter does not exist: proxies report what they ran until their listeners are drained.
    pub async fn wait(
        &self,
        release: &ReleaseName,
        record: &Record,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Arrival, Error> {
        let arrival = self.wait_for_proxies(release, record, waiting).await?;
        match self.missing_filter(record).await?.into_iter().next() {
            Some(object) => Err(Error::Deleted { object }),
            None => Ok(arrival),
        }
    }

    /// The same where the objects of the filter have just been read or written, or may be missing.
    pub(crate) async fn wait_for_proxies(
        &self,
        release: &ReleaseName,
        record: &Record,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Arrival, Error> {
        let begun = Instant::now();
        let mut desired = record.state.release_generation();
        let mut reported = None;
        loop {
            let proxies = Box::pin(self.proxies(&release.to_string(), record)).await?;
            if proxies.iter().any(|proxy| proxy.is_ahead_of(desired)) {
                desired = self.recorded_generation(release, desired).await?;
            }
            let all = proxies.len();
            let (running, behind): (Vec<_>, Vec<_>) =
                proxies.into_iter().partition(|proxy| proxy.runs(desired));
            if reported.replace((running.len(), all)) != Some((running.len(), all)) {
                (waiting.progress)(running.len(), all);
            }
            let waited = begun.elapsed();
            let are_unseen = behind.iter().all(|proxy| proxy.fault.is_some());
            if behind.is_empty() || (are_unseen && self.is_unseen_wait_over(waited, waiting.timeout)) {
                let not_observed = behind.iter().map(ToString::to_string).collect();
                return Ok(Arrival { waited, proxies: running, not_observed });
            }
            if waited >= waiting.timeout {
                return Err(Error::Late { desired, behind, waited });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until no proxy reports another generation than this one, in which the release has no canary. A proxy that has
    /// nothing of the release has no canary either. Proxies that cannot be asked get the time that istiod takes for a push; they, or
    /// the error that kept all from being asked, are returned.
    pub(crate) async fn wait_for_removal(
        &self,
        release: &ReleaseName,
        record: &Record,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Option<Box<Error>>, Error> {
        let begun = Instant::now();
        let desired = record.state.release_generation();
        let mut reported = None;
        loop {
            let proxies = match Box::pin(self.proxies(&release.to_string(), record)).await {
                Ok(proxies) => proxies,
                Err(error) if error.is_about_proxies() => {
                    tokio::time::sleep(self.options.istiod_push_delay).await;
                    return Ok(Some(Box::new(error)));
                }
                Err(error) => return Err(error),
            };
            let is_done = |proxy: &ProxyStatus| proxy.runs(desired) || proxy.has_no_release();
            let done = proxies.iter().filter(|proxy| is_done(proxy)).count();
            if reported.replace((done, proxies.len())) != Some((done, proxies.len())) {
                (waiting.progress)(done, proxies.len());
            }
            let behind: Vec<_> = proxies.into_iter().filter(|proxy| !is_done(proxy)).collect();
            let waited = begun.elapsed();
            if behind.is_empty() {
                return Ok(None);
            }
            let are_silent = behind.iter().all(|proxy| proxy.fault.is_some());
            let late = Error::Late { desired, behind, waited };
            if are_silent && waited >= self.options.istiod_push_delay {
                return Ok(Some(Box::new(late)));
            }
            if waited >= waiting.timeout {
                return Err(late);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The generation that the record of the same installation has now.
    async fn recorded_generation(
        &self,
        release: &ReleaseName,
        desired: ReleaseGeneration,
    ) -> Result<ReleaseGeneration, Error> {
        let recorded = match self.records.observe(release).await? {
            Some(FoundRecord::Genuine(stored)) => Some(stored.record.state.release_generation()),
            // What was written counts.
            Some(FoundRecord::Refused(..)) | None => None,
        };
        let is_same =
            |recorded: &ReleaseGeneration| recorded.installed_at_seconds == desired.installed_at_seconds;
        Ok(recorded.filter(is_same).unwrap_or(desired))
    }

    /// The objects of a release's filter that do not exist: the configuration and its place in the proxies.
    async fn missing_filter(&self, record: &Record) -> Result<Vec<Reference>, Error> {
        let found = self.filter_objects(record).await?;
        Ok(filter_of(record).filter(|object| !found.contains_key(*object)).cloned().collect())
    }

    /// The objects without which no proxy decides, as far as they exist.
    pub(crate) async fn filter_objects(&self, record: &Record) -> Result<BTreeMap<Reference, Value>, Error> {
        self.client.get_all(filter_of(record)).await
    }
}

/// The objects without which no proxy decides.
pub(crate) fn filter_of(record: &Record) -> impl Iterator<Item = &Reference> {
    let stages = [Stage::Configuration, Stage::Filter];
    record.objects.iter().filter(move |(stage, _)| stages.contains(stage)).map(|(_, object)| object)
}
