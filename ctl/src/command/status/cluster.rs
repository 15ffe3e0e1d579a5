//! The status of a release on a cluster: its record, its pods, and what its proxies report.

mod report;

use crate::Error;
use crate::report::Report;
use canary_operations::{Cluster, StoredRecord};
use canary_release::object::Reference;
use canary_release::spec::ReleaseName;
use canary_release::status::{Observation, TrafficWindow};
use report::ClusterStatus;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The status of a release, fetched once or again and again.
pub(in crate::command) struct Watch {
    name: ReleaseName,
    /// The objects that may contain its configurations, if its record was deleted.
    named: BTreeSet<Reference>,
    /// The time in which requests are counted before the first report.
    count_for: Duration,
    window: TrafficWindow,
    /// The generation that the window is about.
    generation: Option<u64>,
    /// Whether responses are counted too.
    has_responses: bool,
}

impl Watch {
    pub(super) fn new(name: ReleaseName, named: BTreeSet<Reference>, count_for: Duration) -> Self {
        Self {
            name,
            named,
            count_for,
            window: TrafficWindow::default(),
            generation: None,
            has_responses: false,
        }
    }

    /// One that waits for no requests before the first report, and counts responses too.
    pub(in crate::command) fn with_responses(name: ReleaseName, named: BTreeSet<Reference>) -> Self {
        Self { has_responses: true, ..Self::new(name, named, Duration::ZERO) }
    }

    /// The release at this moment, with the traffic since the window began.
    pub(super) async fn fetch(&mut self, cluster: &Cluster) -> Result<impl Report + use<>, Error> {
        let observation = self.observe(cluster).await?;
        let controller = cluster.controller_status(&self.name, &observation.record).await;
        Ok(ClusterStatus::new(&self.name, (observation, controller), jiff::Timestamp::now()))
    }

    /// The same as data.
    pub(in crate::command) async fn observe(&mut self, cluster: &Cluster) -> Result<Observation, Error> {
        let stored = cluster.show_record(&self.name, &self.named).await?;
        let generation = stored.record.state.generation;
        if self.generation.replace(generation) != Some(generation) {
            self.window.clear();
            self.count(&stored, cluster).await?;
        }
        let begun = self.window.begun();
        let mut observation = cluster.observe_status(&self.name, &stored).await?;
        if let Some(rest) = begun.and_then(|begun| self.count_for.checked_sub(begun.elapsed())) {
            tokio::time::sleep(rest).await;
        }
        self.count(&stored, cluster).await?;
        observation.traffic = self.window.traffic();
        Ok(observation)
    }

    async fn count(&mut self, stored: &StoredRecord, cluster: &Cluster) -> Result<(), Error> {
        let name = self.name.to_string();
        let traffic = if self.has_responses {
            cluster.traffic_with_responses(&name, &stored.record).await
        } else {
            cluster.traffic(&name, &stored.record).await
        };
        match traffic {
            Ok(traffic) => self.window.add(Instant::now(), traffic),
            // The observation says that the right is missing, and everything that can be read without it.
            Err(error) if error.is_about_proxies() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
