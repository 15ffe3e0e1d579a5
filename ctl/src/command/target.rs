//! The cluster that a verb is about, and the release there.

use super::arguments::{ClusterAccess, OnCluster, SpecFile};
use super::named_release::{self, InvalidFile, NamedRelease};
use crate::hint::Hint;
use crate::prometheus::HttpScrapedMetrics;
use crate::report::Printer;
use crate::{Error, module};
use canary_operations::{Arrival, Cluster, StoredRecord, WaitOptions, WriteOptions};
use canary_release::file::Document;
use canary_release::format::seconds;
use canary_release::object::Reference;
use canary_release::preflight::PreflightCheck;
use canary_release::record::RecordTrust;
use canary_release::spec::{Mode, ReleaseName, Seconds};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// Whether a release's proxies are a local Envoy.
pub(super) fn is_local(document: &Document) -> bool {
    document.release.delivery.mode == Mode::Local
}

/// Refuses a release of a local Envoy, for a verb that is for clusters alone.
pub(super) fn for_a_cluster(file: &Document) -> Result<(), Error> {
    if !is_local(file) {
        return Ok(());
    }
    let message = "expected a release for a cluster, found `delivery.mode: local`";
    Err(Error::usage(message, "`canary-ctl weight 0` takes new users off the canary of a local Envoy"))
}

/// Reads a file for a verb that brings its release to a cluster. `-n` cannot move it to another namespace.
pub(super) fn load_for(spec: &SpecFile, access: &ClusterAccess) -> Result<Document, Error> {
    let document = module::load(&spec.file)?;
    for_a_cluster(&document)?;
    check_namespace(&document, access)?;
    Ok(document)
}

/// Refuses `-n` with another namespace than that of the file.
pub(super) fn check_namespace(document: &Document, access: &ClusterAccess) -> Result<(), Error> {
    let own = &document.release.name.namespace;
    match &access.namespace {
        Some(asked) if asked != own => Err(Error::usage(
            format!("expected the namespace of the file, `{own}`, found `-n {asked}`"),
            "leave `-n` out, name the file of the release by `-f`, or the release as NAMESPACE/NAME",
        )),
        _ => Ok(()),
    }
}

/// Refuses flags of a cluster for a call that asks none.
pub(super) fn without_cluster(document: &Document, access: &ClusterAccess) -> Result<(), Error> {
    check_namespace(document, access)?;
    let Some(flag) = access.connection.flag_of_cluster() else { return Ok(()) };
    let hint = if is_local(document) {
        "its release is one of a local Envoy: leave the flag out"
    } else {
        "`--live` asks the cluster, where the command has it; else leave the flag out"
    };
    Err(Error::usage(format!("expected no flag of a cluster, found `{flag}`: the call asks none"), hint))
}

/// Finds the cluster.
pub(super) async fn connect(access: &ClusterAccess) -> Result<Cluster, Error> {
    connect_as(access, WriteOptions::default()).await
}

/// The same, with these options for writes.
pub(super) async fn connect_as(access: &ClusterAccess, writing: WriteOptions) -> Result<Cluster, Error> {
    let cluster = Cluster::connect(&access.access(), writing).await?;
    let waits = |held: &canary_operations::Error| Printer::of_process().message(&format!("waits: {held}"));
    let cluster = cluster.with_lease_wait_observer(Arc::new(waits));
    Ok(match access.prometheus() {
        Some(server) => cluster.with_scraped_metrics(Arc::new(HttpScrapedMetrics::new(server))),
        None => cluster,
    })
}

/// The write options of a verb with these checks skipped.
pub(super) fn write_options(skipped: &[PreflightCheck]) -> WriteOptions {
    let is_skipped = skipped.contains(&PreflightCheck::UnseenProxies);
    let unseen_proxies_wait = is_skipped.then_some(WriteOptions::UNSEEN_PROXIES_WAIT);
    WriteOptions { unseen_proxies_wait, ..WriteOptions::default() }
}

/// The release that a verb steers, as it was read.
pub(super) struct ReleaseTarget {
    pub(super) name: ReleaseName,
    pub(super) cluster: Cluster,
    pub(super) stored: StoredRecord,
}

/// Reads the release that a command line names. Fails for one of a local Envoy.
pub(super) async fn connect_release(on: &OnCluster, invalid: InvalidFile) -> Result<ReleaseTarget, Error> {
    read_release(on, named_release::find(&on.of, &on.cluster, invalid)?).await
}

/// Reads a release that was found. Fails for one of a local Envoy.
pub(super) async fn read_release(on: &OnCluster, found: NamedRelease) -> Result<ReleaseTarget, Error> {
    let NamedRelease { name, document } = found;
    document.as_ref().map_or(Ok(()), for_a_cluster)?;
    let cluster = connect_as(&on.cluster, write_options(&on.checks.skipped)).await?;
    let stored = get_record(&cluster, &name, document.as_ref()).await?;
    Ok(ReleaseTarget { name, cluster, stored })
}

/// The record of a release; where it was deleted or is not obeyed, what its objects say. The file names where the objects may be.
pub(super) async fn get_record(
    cluster: &Cluster,
    name: &ReleaseName,
    document: Option<&Document>,
) -> Result<StoredRecord, Error> {
    Ok(cluster.get_or_recover_record(name, &config_objects(document)?).await?)
}

/// The configuration objects that a file names.
pub(super) fn config_objects(document: Option<&Document>) -> Result<BTreeSet<Reference>, Error> {
    let named = document.map(|document| canary_operations::config_objects(&document.release)).transpose()?;
    Ok(named.unwrap_or_default())
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

/// Prints why an emergency did not obey the record, or did not write it.
pub(super) fn report_record(stored: &StoredRecord, printer: &mut Printer) {
    if let RecordTrust::Refused(fault) = stored.trust() {
        printer.message(&format!("the record is not obeyed: {fault}; the objects on the cluster are"));
    }
    if let Some(reason) = stored.unsaved() {
        printer.message(&format!("the record was not written: {reason}"));
        printer.hint("`canary-ctl recover` writes it again");
    }
}

/// Prints that a version has too few pods for its users, and what to do.
pub(super) fn report_pods(found: Option<&(impl Display + Hint)>, printer: &mut Printer) {
    let Some(found) = found else { return };
    printer.message(&found.to_string());
    found.hint().iter().for_each(|hint| printer.hint(hint));
}

/// The wait options of the command line.
pub(super) fn waiting(timeout: Seconds, progress: &mut dyn FnMut(usize, usize)) -> WaitOptions<'_> {
    WaitOptions { timeout: Duration::from_secs(timeout.get()), progress }
}
