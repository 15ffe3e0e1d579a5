//! The status of a local Envoy's release: its state, and what its proxy says.

mod problems;
mod report;

use super::Status;
use crate::Error;
use crate::command::target;
use crate::local::{Admin, Entry, Environment, Stats};
use crate::report::Report;
use canary_release::file::Document;
use canary_release::spec::ReleaseName;
use report::LocalStatus;

/// A release as it stands at this moment.
pub(super) async fn fetch(
    arguments: &Status,
    name: &ReleaseName,
    document: &Document,
) -> Result<impl Report + use<>, Error> {
    let environment = Environment::of(&document.release)?;
    target::without_cluster(document, &arguments.cluster)?;
    let name = name.to_string();
    let state = environment.state()?;
    let entry = state.release(environment.layout(), &name)?;
    Ok(observe(&name, entry, &environment.admin()).await)
}

/// The problems of a release, each with its hint.
pub(in crate::command) fn local_problems(
    name: &str,
    entry: &Entry,
    stats: Result<&Stats, &crate::local::Error>,
    now: jiff::Timestamp,
) -> Vec<(String, String)> {
    let found = problems::of(name, entry, stats, now).into_iter();
    found.map(|problem| (problem.message, problem.hint)).collect()
}

async fn observe(name: &str, entry: &Entry, admin: &Admin) -> LocalStatus {
    let stats: Result<Stats, _> = admin.stats().await;
    let now = jiff::Timestamp::now();
    let problems = problems::of(name, entry, stats.as_ref(), now);
    LocalStatus::new(name, entry, stats.ok().as_ref(), now, problems)
}
