//! The releases of a local Envoy, for the dashboard.

use super::api_error;
use super::change::sentences;
use crate::Error;
use crate::command::status::local_problems;
use crate::command::weight::{LocalWeight, WeightTarget, set_local};
use crate::local::{Entry, Environment, Stats};
use assignment::contract::{Role, Stickiness};
use canary_dashboard::{
    ApiError, ChangeKind, ChangeReport, ChangeRequest, HistoryView, ProblemView, ProxyView, ReleaseRow,
    ReleaseSource, ReleaseView,
};
use canary_release::spec::ReleaseName;
use canary_release::status::{ReadyPods, ReleaseSummary, TrafficWindow};
use jiff::Timestamp;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

/// The releases of one local Envoy.
pub(super) struct LocalSource {
    environment: Environment,
    /// The windows in which requests are counted, each with its generation.
    windows: RefCell<BTreeMap<String, (u64, TrafficWindow)>>,
}

impl LocalSource {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment, windows: RefCell::default() }
    }

    async fn view(&self, name: &str) -> Result<ReleaseView, Error> {
        let releases = self.environment.state()?;
        let entry = releases.release(self.environment.layout(), name)?;
        let stats = self.environment.admin().stats().await;
        let now = Timestamp::now();
        let mut windows = self.windows.borrow_mut();
        let (generation, window) = windows.entry(name.to_owned()).or_default();
        if std::mem::replace(generation, entry.state.generation) != entry.state.generation {
            window.clear();
        }
        if let Ok(stats) = &stats {
            window.add(Instant::now(), stats.traffic(name));
        }
        let counts_sessions = entry.config.stickiness == Stickiness::Session;
        let view = ReleaseView::of_state(name, &entry.state, window.traffic().as_ref(), counts_sessions, now);
        let problems = local_problems(name, entry, stats.as_ref(), now);
        let problems = problems.into_iter().map(|(message, hint)| ProblemView { message, hint });
        Ok(ReleaseView {
            problems: problems.collect(),
            history: HistoryView::of_all(&entry.history),
            proxies: vec![proxy(name, entry, stats.as_ref().ok())],
            changes: entry.state.version_of(Role::Canary).map(|_| ChangeKind::Weight).into_iter().collect(),
            ..view
        }
        .with_pods(&processes(name, entry, stats.as_ref().ok())))
    }

    /// A local Envoy has one verb, `weight`.
    async fn set_weight(&self, name: &str, request: &ChangeRequest) -> Result<ChangeReport, Error> {
        let Some(weight) = request.weight else {
            let message = "expected the change `weight`, found another";
            return Err(Error::usage(message, "a release of a local Envoy has no other verb"));
        };
        let change = LocalWeight {
            release: name,
            target: WeightTarget::To(weight),
            expires_in: None,
            expected_generation: Some(request.expected_generation),
            skipped: &[],
        };
        let (report, applied) = set_local(&self.environment, change, request.dry_run).await?;
        let is_missing = applied.is_some_and(|applied| !applied.running);
        let missing = is_missing.then(|| "no Envoy is running; it will begin with this weight".to_owned());
        let lines = sentences(&report).chain(missing).collect();
        Ok(ChangeReport { lines, written: !request.dry_run })
    }

    fn list(&self) -> Result<Vec<ReleaseRow>, Error> {
        let state = self.environment.state()?;
        Ok(state.releases.iter().map(|(name, entry)| row(name, entry)).collect())
    }
}

impl ReleaseSource for LocalSource {
    async fn releases(&self) -> Result<Vec<ReleaseRow>, ApiError> {
        self.list().map_err(|error| api_error(&error))
    }

    async fn release(&self, name: &ReleaseName) -> Result<ReleaseView, ApiError> {
        self.view(&name.to_string()).await.map_err(|error| api_error(&error))
    }

    async fn change(&self, name: &ReleaseName, request: &ChangeRequest) -> Result<ChangeReport, ApiError> {
        self.set_weight(&name.to_string(), request).await.map_err(|error| api_error(&error))
    }
}

fn proxy(name: &str, entry: &Entry, stats: Option<&Stats>) -> ProxyView {
    let generation = stats.and_then(|stats| stats.release(name).generation());
    ProxyView {
        name: "Envoy".to_owned(),
        generation,
        is_current: generation == Some(entry.state.generation),
        fault: stats.is_none().then(|| "does not respond".to_owned()),
    }
}

/// The processes of each version, as Envoy sees them.
fn processes(name: &str, entry: &Entry, stats: Option<&Stats>) -> Vec<ReadyPods> {
    let members = |version: &str| stats?.membership(&format!("{name}/{version}"));
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let of = |version: &assignment::contract::VersionConfig| {
        let (ready, all) = members(&version.name).unwrap_or_default();
        ReadyPods { ready: count(ready), all: count(all) }
    };
    entry.state.versions.iter().map(of).collect()
}

fn row(name: &str, entry: &Entry) -> ReleaseRow {
    let state = &entry.state;
    let now = u64::try_from(Timestamp::now().as_second()).unwrap_or_default();
    let version = |role| state.version_of(role).map(str::to_owned);
    let summary = ReleaseSummary {
        stable: version(Role::Stable).unwrap_or_default(),
        canary: version(Role::Canary),
        draining: Vec::new(),
        weight: state.weight,
        effective: state.weight_at(now),
        generation: state.generation,
        conditions: Vec::new(),
    };
    ReleaseRow { release: name.to_owned(), summary: Some(summary), notes: Vec::new() }
}
