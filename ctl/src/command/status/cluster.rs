//! The status of a release on a cluster: its record, its pods, and what its proxies say.

mod problems;
mod report;

use crate::Error;
use crate::cluster::{Cluster, Ready, Traffic};
use crate::command::turn;
use crate::report::Report;
use crate::spec::ReleaseName;
use assignment::contract::Role;
use report::Standing;

/// What was seen of a release at one moment.
struct Seen {
    record: crate::plan::Record,
    /// The pods of each live version, in the record's order.
    ready: Vec<Ready>,
    proxies: Vec<crate::cluster::Proxy>,
    /// The objects that do not say what the record says.
    behind: Vec<String>,
    /// Whether a route leads to the canary; `None` without a canary.
    routed: Option<bool>,
    /// The requests of a moment, where a version drains.
    traffic: Option<Traffic>,
}

/// A release as it stands at this moment.
pub(super) async fn look(name: &ReleaseName, cluster: &Cluster) -> Result<impl Report + use<>, Error> {
    let stored = cluster.known(name).await?;
    let mut ready = Vec::new();
    for version in &stored.record.standing.versions {
        ready.push(cluster.ready(name.namespace.as_str(), &stored.record.service, &version.name).await?);
    }
    let behind = match cluster.unfinished(name, &stored.record).await {
        Ok(plan) => plan.changes.iter().map(|change| change.object.to_string()).collect(),
        Err(crate::cluster::Error::Plan(error @ crate::plan::Error::NotCarried { .. })) => {
            vec![error.to_string()]
        }
        Err(error) => return Err(error.into()),
    };
    let routed = match stored.record.standing.version_of(Role::Canary) {
        Some(canary) => Some(cluster.has_route(name, &stored.record, canary).await?),
        None => None,
    };
    let proxies = cluster.proxies(&name.to_string(), &stored.record).await?;
    let mut traffic = None;
    if !stored.record.draining_versions().is_empty() {
        traffic = Some(turn::watch(name, &stored, cluster).await?);
    }
    let seen = Seen { record: stored.record, ready, proxies, behind, routed, traffic };
    Ok(Standing::new(name, seen, jiff::Timestamp::now()))
}
