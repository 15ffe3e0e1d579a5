//! The releases of a cluster, for the dashboard.

use super::api_error;
use super::change::ReleaseEditor;
use crate::Error;
use crate::command::status::Watch;
use crate::hint::Hint as _;
use canary_dashboard::{
    ApiError, ChangeReport, ChangeRequest, ReleaseRow, ReleaseSource, ReleaseView, RolloutProgress,
};
use canary_operations::{Cluster, RolloutDriver};
use canary_release::object::Reference;
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use canary_release::status::{Problem, ReleaseSummary};
use jiff::Timestamp;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Several tabs share an observation that is not older.
const FRESH_FOR: Duration = Duration::from_secs(1);
/// A release that no tab has shown for so long is forgotten, with its window.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// The state of a release between two observations.
struct Observed {
    watch: Watch,
    last: Option<(Instant, ReleaseView)>,
}

/// The releases of a cluster.
pub(super) struct ClusterSource {
    cluster: Cluster,
    scope: ReleaseScope,
    observed: RefCell<BTreeMap<ReleaseName, Shared>>,
}

/// When a tab has last asked for a release, and what is kept of it.
type Shared = (Instant, Rc<Mutex<Observed>>);

/// The releases that are shown.
enum ReleaseScope {
    /// This one, with the configuration objects that its file names.
    One(ReleaseName, BTreeSet<Reference>),
    /// Those of these namespaces; of all without one.
    All(Vec<String>),
}

impl ClusterSource {
    /// One release, and the configuration objects that its file names.
    pub(super) fn of_one(cluster: Cluster, name: ReleaseName, named: BTreeSet<Reference>) -> Self {
        Self { cluster, scope: ReleaseScope::One(name, named), observed: RefCell::default() }
    }

    /// All releases of these namespaces.
    pub(super) fn of_all(cluster: Cluster, namespaces: Vec<String>) -> Self {
        Self { cluster, scope: ReleaseScope::All(namespaces), observed: RefCell::default() }
    }

    async fn list(&self) -> Result<Vec<ReleaseRow>, Error> {
        let now = Timestamp::now();
        let found = match &self.scope {
            ReleaseScope::One(name, named) => {
                let stored = self.cluster.show_record(name, named).await?;
                vec![row(name, &stored.record, now)]
            }
            ReleaseScope::All(namespaces) => {
                let found = self.cluster.releases(namespaces).await?.into_iter();
                let rows = found.map(|(name, record)| match record {
                    Ok(record) => row(&name, &record, now),
                    Err(error) => {
                        let notes = vec![error.to_string()];
                        ReleaseRow { release: name.to_string(), summary: None, notes }
                    }
                });
                rows.collect()
            }
        };
        Ok(found)
    }

    /// Its configuration objects, if a file has named them.
    fn named(&self, name: &ReleaseName) -> BTreeSet<Reference> {
        match &self.scope {
            ReleaseScope::One(own, named) if own == name => named.clone(),
            _ => BTreeSet::new(),
        }
    }

    async fn edit(&self, name: &ReleaseName, request: &ChangeRequest) -> Result<ChangeReport, Error> {
        let cluster = &self.cluster;
        let stored = cluster.get_or_recover_record(name, &self.named(name)).await?;
        let report =
            ReleaseEditor { cluster, name, stored, dry_run: request.dry_run }.change(request).await?;
        if report.written {
            // The next look of a tab shows it.
            self.observed(name).lock().await.last = None;
        }
        Ok(report)
    }

    /// The state of a release; starts its observation.
    fn observed(&self, name: &ReleaseName) -> Rc<Mutex<Observed>> {
        let mut observed = self.observed.borrow_mut();
        let now = Instant::now();
        observed.retain(|_, (used, _)| now.duration_since(*used) < FORGOTTEN_AFTER);
        let begin = || {
            let watch = Watch::with_responses(name.clone(), self.named(name));
            Rc::new(Mutex::new(Observed { watch, last: None }))
        };
        let (used, kept) = observed.entry(name.clone()).or_insert_with(|| (now, begin()));
        *used = now;
        Rc::clone(kept)
    }

    async fn view(&self, name: &ReleaseName) -> Result<ReleaseView, Error> {
        let observed = self.observed(name);
        let mut observed = observed.lock().await;
        if let Some((_, view)) = observed.last.as_ref().filter(|(at, _)| at.elapsed() < FRESH_FOR) {
            return Ok(view.clone());
        }
        let observation = observed.watch.observe(&self.cluster).await?;
        let now = Timestamp::now();
        let rollout = self.rollout(name, &observation.record, now).await?;
        let view = ReleaseView::of_cluster(name, &observation, rollout, hint, now);
        observed.last = Some((Instant::now(), view.clone()));
        Ok(view)
    }

    /// The condition that an active rollout waits for. Writes nothing.
    async fn rollout(
        &self,
        name: &ReleaseName,
        record: &Record,
        now: Timestamp,
    ) -> Result<Option<RolloutProgress>, Error> {
        if record.rollout.as_ref().is_none_or(|rollout| !rollout.is_active()) {
            return Ok(None);
        }
        let mut driver = RolloutDriver::new(&self.cluster, name.clone(), Duration::ZERO);
        Ok(RolloutProgress::of_report(&driver.observe(now).await?))
    }
}

impl ReleaseSource for ClusterSource {
    async fn releases(&self) -> Result<Vec<ReleaseRow>, ApiError> {
        self.list().await.map_err(|error| api_error(&error))
    }

    async fn release(&self, name: &ReleaseName) -> Result<ReleaseView, ApiError> {
        self.view(name).await.map_err(|error| api_error(&error))
    }

    async fn change(&self, name: &ReleaseName, request: &ChangeRequest) -> Result<ChangeReport, ApiError> {
        self.edit(name, request).await.map_err(|error| api_error(&error))
    }
}

fn hint(problem: &Problem<'_>) -> Option<String> {
    problem.hint()
}

fn row(name: &ReleaseName, record: &Record, now: Timestamp) -> ReleaseRow {
    let summary = ReleaseSummary::of(record, now);
    let conditions = summary.conditions.iter().map(ToString::to_string);
    let draining = summary.draining.iter().map(|version| format!("{version} drains"));
    let notes = conditions.chain(draining).collect();
    ReleaseRow { release: name.to_string(), summary: Some(summary), notes }
}
