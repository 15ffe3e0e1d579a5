//! Releases whose object was deleted. Stable gets all users at once; the rest is removed when it hurts no user.
//!
//! No object has a finalizer: without a controller it would block its namespace for ever. Instead each release that a controller has
//! applied says so in its sealed record, and such a release without an object is removed, also by a replica that starts later.

use canary_operations::{
    Cluster, Error, LastAlerts, RollbackOptions, StoredRecord, UninstallOptions, WaitOptions,
};
use canary_release::spec::ReleaseName;
use futures_util::{StreamExt as _, stream};
use std::collections::BTreeSet;
use std::time::Duration;

/// The wait for proxies.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Removals at a time: each may wait for proxies.
const CONCURRENCY: usize = 16;

/// The result for a release whose object is gone.
#[derive(Debug)]
pub enum Removal {
    /// It is uninstalled.
    Uninstalled,
    /// Stable has all users, and the rest waits for this.
    Waits(Box<Error>),
    /// There is no such release, or no controller has applied it.
    Nothing,
}

/// The releases that a controller has applied, with a record or without one.
///
/// # Errors
///
/// If records or configurations may not be listed.
pub async fn carried_out(cluster: &Cluster, namespaces: &[String]) -> Result<Vec<ReleaseName>, Error> {
    let recorded = cluster.releases(namespaces).await?.into_iter();
    let recorded = recorded.filter_map(|(name, record)| Some((name, record.ok()?)));
    let left = cluster.releases_without_record(namespaces).await?.into_iter();
    let left = left.filter_map(|(name, record)| Some((name, record.ok()?)));
    let ours = recorded.chain(left).filter(|(_, record)| record.is_carried_out());
    Ok(ours.map(|(name, _)| name).collect())
}

/// Removes releases whose objects were deleted: first the users of every canary get stable, then the rest is removed. `is_gone` is asked
/// before each release, as the removals before may have taken minutes; `removed` is told of each.
pub async fn remove_all(
    cluster: &Cluster,
    names: &[ReleaseName],
    is_gone: impl AsyncFn(&ReleaseName) -> bool,
    removed: impl Fn(&ReleaseName, Result<Removal, Error>),
) {
    let give = async |name: &ReleaseName| {
        if is_gone(name).await {
            // What has failed is tried, and told, below.
            Box::pin(give_to_stable(cluster, name)).await.ok();
        }
    };
    stream::iter(names).for_each_concurrent(CONCURRENCY, give).await;
    let remove = async |name: &ReleaseName| {
        if is_gone(name).await {
            removed(name, Box::pin(remove(cluster, name)).await);
        } else {
            removed(name, Ok(Removal::Nothing));
        }
    };
    stream::iter(names).for_each_concurrent(CONCURRENCY, remove).await;
}

/// Removes a release whose object was deleted.
///
/// # Errors
///
/// If the cluster refuses or does not answer. The next call continues.
pub async fn remove(cluster: &Cluster, name: &ReleaseName) -> Result<Removal, Error> {
    let Some(stored) = give_to_stable(cluster, name).await? else { return Ok(Removal::Nothing) };
    let waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    let options = UninstallOptions { skipped: &[], waiting, alerts: LastAlerts::default() };
    match Box::pin(cluster.uninstall(name, stored, options)).await {
        Ok(_) => Ok(Removal::Uninstalled),
        Err(error) if error.is_refusal() || error.is_transient() => Ok(Removal::Waits(Box::new(error))),
        Err(error) => Err(error),
    }
}

/// Ends the canary of a release that a controller has applied; `None` if there is no such release.
async fn give_to_stable(cluster: &Cluster, name: &ReleaseName) -> Result<Option<StoredRecord>, Error> {
    let stored = match cluster.get_or_recover_record(name, &BTreeSet::new()).await {
        Err(Error::Unknown { .. }) => return Ok(None),
        found => found?,
    };
    if !stored.record.is_carried_out() {
        return Ok(None);
    }
    end_canary(cluster, name, stored).await.map(Some)
}

/// Everybody is on stable with their next request, while subsets and routes stay: without these the Service would send users of stable to
/// the canary's pods.
async fn end_canary(
    cluster: &Cluster,
    name: &ReleaseName,
    stored: StoredRecord,
) -> Result<StoredRecord, Error> {
    use assignment::contract::Role;
    if stored.record.state.version_of(Role::Canary).is_none() {
        return Ok(stored);
    }
    let options = RollbackOptions { now: true, ..RollbackOptions::default() };
    let checked = match cluster.check_rollback(name, stored.clone(), options).await {
        // Without pods of stable no user gains by it; without the Service there is no user.
        Err(error) if error.is_refusal() => return Ok(stored),
        checked => checked?,
    };
    let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
    Ok(Box::pin(cluster.roll_back(checked, &mut waiting)).await?.stored)
}
