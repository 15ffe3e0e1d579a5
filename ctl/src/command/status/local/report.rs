//! What a release is asked to do, what runs, and what users get: as fields, and as text.

use super::super::Problem;
use crate::local::{Entry, Stats};
use crate::report::{Report, Table, escape};
use assignment::Weight;
use assignment::contract::Role;
use canary_release::metrics::ReleaseMetrics;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A release as it stands. Weights in basis points, shares `0..=1` of the requests that were counted.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalStatus {
    release: String,
    weight: Share,
    generation: Generation,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    versions: Vec<Version>,
    /// Requests by reason.
    reasons: BTreeMap<String, u64>,
    problems: Vec<Problem>,
}

#[derive(Clone, Debug, Serialize)]
struct Share {
    /// The desired weight, in basis points.
    asked: Weight,
    /// The effective weight, in basis points.
    effective: Weight,
    /// The share of requests that the canary has had since Envoy started, testers left out.
    seen: Option<f64>,
}

/// The configuration's generation.
#[derive(Clone, Debug, Serialize)]
struct Generation {
    asked: u64,
    running: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    name: String,
    role: Role,
    epoch: u32,
    healthy: Option<u64>,
    processes: Option<u64>,
    requests: u64,
    share: Option<f64>,
    errors: u64,
}

impl LocalStatus {
    pub(super) fn new(
        release: &str,
        entry: &Entry,
        stats: Option<&Stats>,
        now: Timestamp,
        problems: Vec<Problem>,
    ) -> Self {
        let counted = stats.map(|stats| stats.release(release)).unwrap_or_default();
        let total: u64 =
            counted.requests.iter().filter(|((.., why), _)| why != "override").map(|(_, n)| n).sum();
        let share = |requests: u64| ratio(requests, total);
        let release_state = &entry.state;
        let version = |version: &assignment::contract::VersionConfig| {
            let members = stats.and_then(|stats| stats.membership(&format!("{release}/{}", version.name)));
            Version {
                role: version.role,
                epoch: version.epoch,
                healthy: members.map(|(healthy, _)| healthy),
                processes: members.map(|(_, total)| total),
                requests: counted.requests_of(&version.name, true),
                share: share(counted.requests_of(&version.name, false)),
                errors: counted.responses_of(&version.name, "5xx"),
                name: version.name.clone(),
            }
        };
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let canary = release_state.version_of(Role::Canary);
        Self {
            release: release.to_owned(),
            weight: Share {
                asked: release_state.weight,
                effective: release_state.weight_at(seconds),
                seen: canary.and_then(|canary| share(counted.requests_of(canary, false))),
            },
            generation: Generation { asked: release_state.generation, running: counted.generation() },
            until: release_state
                .until
                .and_then(|until| Timestamp::from_second(i64::try_from(until.at_seconds).ok()?).ok()),
            versions: release_state.versions.iter().map(version).collect(),
            reasons: by_reason(&counted),
            problems,
        }
    }
}

fn by_reason(counted: &ReleaseMetrics) -> BTreeMap<String, u64> {
    let mut reasons = BTreeMap::new();
    for ((_, _, reason), count) in &counted.requests {
        *reasons.entry(reason.clone()).or_default() += count;
    }
    reasons
}

/// `None` where nothing was counted: no share is not a share of none.
fn ratio(part: u64, of: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a share is shown with two digits, a float has fifteen")]
    (of > 0).then(|| part as f64 / of as f64)
}

impl Report for LocalStatus {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let Share { asked, effective, seen } = &self.weight;
        let running =
            self.generation.running.map_or_else(|| "none".to_owned(), |running| running.to_string());
        writeln!(out, "{}: weight {asked}, seen {}", self.release, percent(*seen))?;
        writeln!(out, "generation {} asked, {running} running", self.generation.asked)?;
        if let Some(until) = self.until {
            let over = if effective == asked { "" } else { " (over)" };
            writeln!(out, "until {until}{over}")?;
        }
        writeln!(out)?;
        let mut table = Table::new(["VERSION", "ROLE", "EPOCH", "HEALTHY", "REQUESTS", "SHARE", "5XX"]);
        for version in &self.versions {
            let healthy = match (version.healthy, version.processes) {
                (Some(healthy), Some(total)) => format!("{healthy}/{total}"),
                _ => "-".to_owned(),
            };
            table.row([
                version.name.clone(),
                version.role.as_str().to_owned(),
                version.epoch.to_string(),
                healthy,
                version.requests.to_string(),
                percent(version.share),
                version.errors.to_string(),
            ]);
        }
        write!(out, "{table}")?;
        if !self.reasons.is_empty() {
            let mut table = Table::new(["REASON", "REQUESTS"]);
            for (reason, count) in &self.reasons {
                table.row([reason.clone(), count.to_string()]);
            }
            write!(out, "\n{table}")?;
        }
        for problem in &self.problems {
            let (message, hint) = (escape::line(&problem.message), escape::line(&problem.hint));
            write!(out, "\nproblem: {message}\n  hint: {hint}\n")?;
        }
        Ok(())
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.2}%", share * 100.0))
}
