//! What promotions and rollbacks have in common: what is left to write, and the report.

use super::arguments::DryRun;
use crate::report::{PlanReport, Printer, Report};
use crate::{Error, Outcome};
use assignment::contract::Role;
use canary_operations::{Cluster, RoleChanged, StoredRecord};
use canary_release::format::{counted, seconds};
use canary_release::metrics::{Traffic, VersionTraffic};
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use canary_release::state::ScaledDown;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The time in which requests are counted where sessions would end: long enough for a page with its assets.
pub(super) const WINDOW: Duration = Duration::from_secs(2);

/// The roles of a release after a verb.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Roles {
    release: String,
    stable: String,
    /// The versions that drain, and until when.
    draining: BTreeMap<String, Timestamp>,
    /// The versions whose pins no longer count.
    gone: Vec<String>,
    /// Removed versions whose routes and subsets still exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaving: Vec<String>,
    generation: u64,
    /// The time until every proxy ran it, if the operation has waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_seconds: Option<f64>,
    /// The number of proxies that run it, if the operation has waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    proxies: Option<usize>,
    /// The proxies that could not be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_observed: Vec<String>,
    /// The version that gets all users, where it has too few pods for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    scaled_down: Option<ScaledDown>,
}

impl Roles {
    pub(super) fn of(name: &ReleaseName, turned: &RoleChanged) -> Self {
        let Record { state, draining, leaving, .. } = &turned.stored.record;
        let gone = state.gone.iter().filter(|gone| state.has_gone(&gone.name));
        Self {
            release: name.to_string(),
            stable: state.version_of(Role::Stable).unwrap_or_default().to_owned(),
            draining: draining.clone(),
            gone: gone.map(|gone| gone.name.clone()).collect(),
            leaving: leaving.clone(),
            generation: state.generation,
            waited_seconds: turned.arrival.as_ref().map(|arrival| arrival.waited.as_secs_f64()),
            proxies: turned.arrival.as_ref().map(|arrival| arrival.proxies.len()),
            not_observed: turned
                .arrival
                .as_ref()
                .map(|arrival| arrival.not_observed.clone())
                .unwrap_or_default(),
            scaled_down: None,
        }
    }

    /// A line with the stable version.
    pub(super) fn line(&self) -> String {
        let Self { release, stable, generation, .. } = self;
        let line = format!("{release}: {stable} is stable (generation {generation}");
        if let (Some(waited), Some(proxies)) = (self.waited_seconds, self.proxies) {
            let proxies = counted(proxies, "proxy", "proxies");
            let waited = seconds(Duration::from_secs_f64(waited));
            return format!("{line}, active in {proxies} after {waited})");
        }
        line + ")"
    }

    /// With what is missing of the pods of the version that gets all users.
    pub(super) fn with_scaled_down(self, scaled_down: Option<ScaledDown>) -> Self {
        Self { scaled_down, ..self }
    }
}

impl Report for Roles {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "{}", self.line())?;
        for (version, until) in &self.draining {
            writeln!(out, "{version} drains until {until:.0}")?;
        }
        for version in &self.leaving {
            writeln!(out, "{version} is gone; its routes and subset go when every proxy ignores it")?;
        }
        Ok(())
    }
}

/// Prints what would be written for this record; with `server` the API server validates it.
pub(super) async fn dry_run(
    by: DryRun,
    cluster: &Cluster,
    name: &ReleaseName,
    record: &Record,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let plan = cluster.unfinished(name, record).await?;
    if by == DryRun::Server {
        cluster.server_dry_run(&plan).await?;
    }
    printer.report(&PlanReport::new(&plan))?;
    printer.message("nothing written");
    Ok(Outcome::Done)
}

/// The requests of the next two seconds.
pub(super) async fn watch(
    name: &ReleaseName,
    stored: &StoredRecord,
    cluster: &Cluster,
) -> Result<Traffic, canary_operations::Error> {
    let name = name.to_string();
    let before = cluster.traffic(&name, &stored.record).await?;
    tokio::time::sleep(WINDOW).await;
    Ok(cluster.traffic(&name, &stored.record).await?.since(&before))
}

/// A version's part of the requests of a window, as a sentence.
pub(super) fn said(version: &str, part: VersionTraffic, window: Duration) -> String {
    let VersionTraffic { sessions, requests, of, .. } = part;
    let window = window.as_secs();
    format!(
        "in the last {window}s `{version}` had {requests} of {of} requests, {sessions} of them by sessions that stay there"
    )
}
