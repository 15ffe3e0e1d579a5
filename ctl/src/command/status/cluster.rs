//! The status of a release on a cluster: its record, its pods, and what its proxies say.

mod problems;
mod report;
mod share;
mod window;

use crate::Error;
use crate::cluster::{self, Cluster, Ready, StoredRecord};
use crate::manifest::Stage;
use crate::plan::{self, Coverage, LostSubset, Record, Why};
use crate::report::Report;
use crate::spec::ReleaseName;
use assignment::contract::{Role, Stickiness};
use report::Standing;
use std::time::{Duration, Instant};
use window::Counted;
pub(super) use window::Window;

/// What was seen of a release at one moment.
struct Seen {
    record: crate::plan::Record,
    /// The pods of each live version, in the record's order.
    ready: Vec<Ready>,
    proxies: Vec<crate::cluster::Proxy>,
    objects: Objects,
    /// Whether a route leads to the canary; `None` without a canary.
    routed: Option<bool>,
    /// The ways past our routes, where there is more than one version.
    coverage: Coverage,
    /// Whether a decision by weight is one of a new session: where sessions are pinned, and only the edge decides.
    counts_sessions: bool,
    /// What the proxies have counted lately.
    counted: Option<Counted>,
}

/// How far the objects are what the record says.
#[derive(Default)]
struct Objects {
    /// Those that do not say it.
    behind: Vec<String>,
    /// Those of others that had our routes, and who has written them since.
    lost: Vec<(String, Vec<String>)>,
    /// Ours that others have written since.
    changed: Vec<(String, Vec<String>)>,
    /// Versions whose users would get nobody, or another version.
    subsets: Vec<LostSubset>,
    /// Why what others have written cannot be put right.
    stuck: Option<plan::Error>,
}

/// Looks at a release again and again.
pub(super) struct Watch {
    name: ReleaseName,
    /// How long requests are counted before the first report.
    over: Duration,
    window: Window,
    /// The generation that the window is about.
    generation: Option<u64>,
}

impl Watch {
    pub(super) fn new(name: ReleaseName, over: Duration) -> Self {
        Self { name, over, window: Window::default(), generation: None }
    }

    /// The release as it stands at this moment.
    pub(super) async fn look(&mut self, cluster: &Cluster) -> Result<impl Report + use<>, Error> {
        let name = &self.name;
        let stored = cluster.get_record(name).await?;
        let generation = stored.record.standing.generation;
        if self.generation.replace(generation) != Some(generation) {
            self.window.forget();
            self.count(&stored, cluster).await?;
        }
        let begun = self.window.begun();
        let mut seen = see(&self.name, stored.clone(), cluster).await?;
        if let Some(rest) = begun.and_then(|begun| self.over.checked_sub(begun.elapsed())) {
            tokio::time::sleep(rest).await;
        }
        self.count(&stored, cluster).await?;
        seen.counted = self.window.counted();
        Ok(Standing::new(&self.name, seen, jiff::Timestamp::now()))
    }

    async fn count(&mut self, stored: &StoredRecord, cluster: &Cluster) -> Result<(), Error> {
        let traffic = cluster.traffic(&self.name.to_string(), &stored.record).await?;
        self.window.add(Instant::now(), traffic);
        Ok(())
    }
}

/// Everything but what takes time to count.
async fn see(name: &ReleaseName, stored: StoredRecord, cluster: &Cluster) -> Result<Seen, Error> {
    let mut ready = Vec::new();
    for version in &stored.record.standing.versions {
        ready.push(cluster.ready(name.namespace.as_str(), &stored.record.service, &version.name).await?);
    }
    let objects = objects(name, &stored.record, cluster).await?;
    let routed = match stored.record.standing.version_of(Role::Canary) {
        Some(canary) => Some(cluster.has_route(name, &stored.record, canary).await?),
        None => None,
    };
    let mut coverage = Coverage::default();
    if stored.record.standing.versions.len() > 1 {
        coverage = cluster.coverage(name, &stored.record, &[]).await?;
    }
    let proxies = cluster.proxies(&name.to_string(), &stored.record).await?;
    let counts_sessions = match cluster.effective_settings(name, &stored).await {
        Ok(settings) => settings.stickiness == Stickiness::Session && !settings.is_inside,
        Err(cluster::Error::Plan(plan::Error::NotCarried { .. })) => false,
        Err(error) => return Err(error.into()),
    };
    Ok(Seen {
        record: stored.record,
        ready,
        proxies,
        objects,
        routed,
        coverage,
        counts_sessions,
        counted: None,
    })
}

async fn objects(name: &ReleaseName, record: &Record, cluster: &Cluster) -> Result<Objects, Error> {
    let mut objects = Objects { subsets: cluster.lost_subsets(record).await?, ..Objects::default() };
    let plan = match cluster.unfinished(name, record).await {
        Ok(plan) => plan,
        Err(cluster::Error::Plan(error @ plan::Error::NotCarried { .. })) => {
            objects.behind.push(error.to_string());
            return Ok(objects);
        }
        Err(cluster::Error::Plan(error @ (plan::Error::NotOurs { .. } | plan::Error::Uneditable { .. }))) => {
            return Ok(Objects { stuck: Some(error), ..objects });
        }
        Err(error) => return Err(error.into()),
    };
    for change in plan.changes {
        match change.why {
            Why::Repair { by } if change.stage == Stage::Edits => {
                objects.lost.push((change.object.to_string(), by));
            }
            Why::Repair { by } => objects.changed.push((change.object.to_string(), by)),
            _ => objects.behind.push(change.object.to_string()),
        }
    }
    Ok(objects)
}
