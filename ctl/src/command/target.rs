//! The cluster that a verb is about, and the release there.

use crate::Error;
use crate::cli::{ClusterAccess, OnCluster};
use crate::module;
use crate::report::Printer;
use crate::scraped_metrics::HttpScrapedMetrics;
use canary_operations::{Arrival, Cluster, StoredRecord, WaitOptions, WriteOptions};
use canary_release::format::seconds;
use canary_release::preflight::PreflightCheck;
use canary_release::spec::{Document, Mode, ReleaseName, Seconds};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Whether a release's proxies are a local Envoy.
pub(super) fn is_local(document: &Document) -> bool {
    document.release.delivery.mode == Mode::Local
}

/// Reads a file for a verb that is for clusters alone.
pub(super) fn for_a_cluster(file: &Document) -> Result<(), Error> {
    if !is_local(file) {
        return Ok(());
    }
    let message = "expected a release for a cluster, found `delivery.mode: local`";
    Err(Error::usage(message, "`canary-ctl generate` writes the files of a local Envoy"))
}

/// Finds the cluster.
pub(super) async fn connect(access: &ClusterAccess) -> Result<Cluster, Error> {
    connect_as(access, WriteOptions::default()).await
}

/// The same, with these options for writes.
pub(super) async fn connect_as(access: &ClusterAccess, writing: WriteOptions) -> Result<Cluster, Error> {
    let cluster = Cluster::connect(&access.access(), writing).await?;
    Ok(match access.prometheus() {
        Some(server) => cluster.with_scraped_metrics(Arc::new(HttpScrapedMetrics::new(server))),
        None => cluster,
    })
}

/// How a verb writes for which these checks are skipped.
pub(super) fn write_options(skipped: &[PreflightCheck]) -> WriteOptions {
    let is_skipped = skipped.contains(&PreflightCheck::UnseenProxies);
    let unseen_proxies_wait = is_skipped.then_some(WriteOptions::UNSEEN_PROXIES_WAIT);
    WriteOptions { unseen_proxies_wait, ..WriteOptions::default() }
}

/// The release of the file, or the one that `-r` and `-n` name.
pub(super) fn release(
    asked: Option<&str>,
    access: &ClusterAccess,
    document: &Document,
) -> Result<ReleaseName, Error> {
    let mut own = document.release.name.clone();
    if let Some(namespace) = &access.namespace {
        own.namespace = namespace.clone();
    }
    let Some(asked) = asked else { return Ok(own) };
    let name = if asked.contains('/') { asked.to_owned() } else { format!("{}/{asked}", own.namespace) };
    name.parse().map_err(|error| Error::usage(format!("{error}"), "give NAMESPACE/NAME or NAME"))
}

/// The release that a verb steers, as it was read.
pub(super) struct ReleaseTarget {
    pub(super) name: ReleaseName,
    pub(super) cluster: Cluster,
    pub(super) stored: StoredRecord,
}

/// Reads the release that a command line names. Fails for one of a local Envoy.
pub(super) async fn connect_release(on: &OnCluster) -> Result<ReleaseTarget, Error> {
    let document = module::load(&on.spec.file)?;
    for_a_cluster(&document)?;
    let name = release(on.release.as_deref(), &on.cluster, &document)?;
    let cluster = connect_as(&on.cluster, write_options(&on.checks.skipped)).await?;
    let stored = get_record(&cluster, &name, &document).await?;
    Ok(ReleaseTarget { name, cluster, stored })
}

/// The record of a release; where it was deleted, what its objects say. The file names where the objects may be.
pub(super) async fn get_record(
    cluster: &Cluster,
    name: &ReleaseName,
    document: &Document,
) -> Result<StoredRecord, Error> {
    Ok(cluster.get_or_recover_record(name, &namespaces(document)).await?)
}

/// The namespaces of the proxies that a file names.
pub(super) fn namespaces(document: &Document) -> BTreeSet<String> {
    let gateways = document.release.gateways.iter().map(|gateway| &gateway.pods);
    gateways.chain(&document.release.sidecars).map(|pods| pods.namespace.to_string()).collect()
}

/// Prints how many proxies run the generation, where that has changed: an operation may wait several times.
pub(super) fn progress(printer: &mut Printer) -> impl FnMut(usize, usize) {
    let mut last = None;
    move |running, all| {
        if last.replace((running, all)) != Some((running, all)) {
            printer.message(&format!("{running} of {all} proxies run it"));
        }
    }
}

/// Prints the proxies that were given time and not asked.
pub(super) fn report_unseen(arrival: Option<&Arrival>, printer: &mut Printer) {
    let Some(Arrival { not_observed, waited, .. }) = arrival else { return };
    for proxy in not_observed {
        printer.message(&format!("not observed: {proxy}"));
    }
    if !not_observed.is_empty() {
        printer.hint(&format!(
            "what is listed had {}, and is not known to run it: `canary-ctl status` says it once it can be asked",
            seconds(*waited)
        ));
    }
}

/// The wait options of the command line.
pub(super) fn waiting(timeout: Seconds, progress: &mut dyn FnMut(usize, usize)) -> WaitOptions<'_> {
    WaitOptions { timeout: Duration::from_secs(timeout.get()), progress }
}
