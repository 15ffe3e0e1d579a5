//! Proxies that cannot be asked what they run: what depends on their reports is refused before its first write, or goes on
//! after a time that they are given.

use crate::{Cluster, Error};
use canary_release::preflight::{Alternative, PreflightCheck};
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use canary_release::status::{ProxyFault, ProxyStatus};
use std::time::Duration;

/// The most proxies that a message names.
const MAX_NAMED: usize = 3;

impl Cluster {
    /// Refuses what waits for proxies of which one cannot be asked: it would be left half done. Reads only.
    ///
    /// # Errors
    ///
    /// If a ready proxy does not report its metrics, or metrics may not be read. Never where the check is skipped
    /// ([`WriteOptions::unseen_proxies_wait`](crate::WriteOptions::unseen_proxies_wait)).
    pub async fn check_proxies_seen(&self, release: &ReleaseName, record: &Record) -> Result<(), Error> {
        if self.options.unseen_proxies_wait.is_some() {
            return Ok(());
        }
        let proxies = Box::pin(self.proxies(&release.to_string(), record)).await?;
        let unseen: Vec<&ProxyStatus> = proxies.iter().filter(|proxy| proxy.fault.is_some()).collect();
        let Some(first) = unseen.first() else { return Ok(()) };
        let (namespace, pod) = (first.namespace.clone(), first.pod.clone());
        let alternative = match first.fault {
            Some(ProxyFault::Ambient | ProxyFault::Waypoint) => Alternative::GiveSidecar { namespace, pod },
            _ => Alternative::ReadMetrics { namespace, pod },
        };
        Ok(PreflightCheck::UnseenProxies.refuse(&[], message(&unseen, proxies.len()), alternative)?)
    }

    /// The text of an error about a proxy that may not be asked, if the check is skipped.
    ///
    /// # Errors
    ///
    /// The error itself, where it is about something else, or the check is not skipped and no Prometheus is asked.
    pub(crate) fn unseen_fault(&self, error: Error) -> Result<String, Error> {
        let may_be_unseen = self.options.unseen_proxies_wait.is_some() || self.metrics_reader.has_scraped();
        if may_be_unseen && error.is_about_proxies() {
            return Ok(format!("cannot be asked: {error}"));
        }
        Err(error)
    }

    /// Whether proxies that cannot be asked have been waited for long enough; never, where the check is not skipped.
    pub(crate) fn is_unseen_wait_over(&self, waited: Duration, timeout: Duration) -> bool {
        self.options.unseen_proxies_wait.is_some_and(|wait| waited >= wait.min(timeout))
    }

    /// The same for clusters, which no Prometheus tells of: they are compared with what was written a moment ago.
    pub(crate) fn is_cluster_wait_over(&self, waited: Duration, timeout: Duration) -> bool {
        let scraped = self.metrics_reader.has_scraped().then_some(self.options.unseen_clusters_wait);
        let wait = self.options.unseen_proxies_wait.or(scraped);
        wait.is_some_and(|wait| waited >= wait.min(timeout))
    }
}

fn message(unseen: &[&ProxyStatus], all: usize) -> String {
    let named: Vec<String> = unseen.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    format!(
        "expected {all} proxies that can be asked what they run, found {} that cannot: {}",
        unseen.len(),
        named.join("; ")
    )
}
