//! The record of a release: its desired state, its objects, and its history.
//!
//! The record is written before the objects, so it is never behind them: a call that was killed leaves a record that
//! the next call executes.

use super::{Author, Error, History, Operation, Pause, RoleChange, ServiceRef};
use crate::alert::{AlertKind, AlertOutbox};
use crate::delivery::ModuleRollout;
use crate::object::{Reference, Stage};
use crate::rollout::{Rollout, Suspension};
use crate::routing::RouteTargets;
use crate::spec::{ObjectMetadata, Release, ReleaseName, Routes, Selector};
use crate::state::{ReleaseState, TrainMember};
use assignment::Weight;
use assignment::contract::{ExpiryAction, Role, Until};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The shape that this tool writes.
pub(crate) const FORMAT: u32 = 1;

/// An object that we have written, or are about to.
pub type OwnedObject = (Stage, Reference);

/// The record of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    pub(super) format: u32,
    /// Versions, roles, epochs, weight, generation.
    pub state: ReleaseState,
    /// The weight of the file, until the first configuration has been seen everywhere at weight 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_weight: Option<Weight>,
    /// Removed versions, whose routes and subsets exist until every proxy ignores their pins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaving: Vec<String>,
    /// The versions that drain, and until when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub draining: BTreeMap<String, jiff::Timestamp>,
    /// The last promotion or rollback, until another canary is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_change: Option<RoleChange>,
    /// A new module that not every proxy was seen to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module_rollout: Option<ModuleRollout>,
    /// The rollout that goes by itself, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Box<Rollout>>,
    /// The alerts of its rollouts that are not delivered yet.
    #[serde(default, skip_serializing_if = "AlertOutbox::is_empty")]
    pub alerts: AlertOutbox,
    /// Stable's ready pods when the canary got its first users: those by which all users were served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stable_pods: Option<usize>,
    /// The pause, if the release is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// The largest raise without being asked twice.
    pub max_step: Weight,
    /// The action when a weight expires.
    pub on_expiry: ExpiryAction,
    /// The pods behind the release.
    pub service: Box<ServiceRef>,
    /// The proxies that serve the release.
    pub proxies: Vec<Proxies>,
    /// The train that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Box<TrainMember>>,
    /// The writer of the routes.
    #[serde(default)]
    pub routes: Routes,
    /// Labels and annotations of its objects.
    #[serde(default, skip_serializing_if = "ObjectMetadata::is_empty")]
    pub metadata: Box<ObjectMetadata>,
    /// The objects that we have written for it, or are about to.
    pub objects: Vec<OwnedObject>,
    /// The last changes, the oldest first.
    pub history: History,
}

/// Pods whose proxies serve a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Proxies {
    /// Their namespace.
    pub namespace: String,
    /// Their labels; none selects all of the namespace.
    pub labels: BTreeMap<String, String>,
}

impl Record {
    /// The targets of its release in every list of routes. `release` is `<namespace>/<name>`.
    pub fn route_targets(&self, release: &str) -> RouteTargets {
        let namespace = release.split('/').next().unwrap_or_default();
        let live = self.state.versions.iter().map(|version| version.name.clone());
        RouteTargets {
            release: release.to_owned(),
            service: self.service.name.clone(),
            namespace: namespace.to_owned(),
            stable: self.state.version_of(Role::Stable).unwrap_or_default().to_owned(),
            versions: live.chain(self.leaving.iter().cloned()).collect(),
        }
    }

    /// The first record of a release. Its configuration starts at weight 0, whatever the weight in its file.
    pub fn first(release: &Release, state: ReleaseState) -> Self {
        let (asked, train) = (state.weight, TrainMember::of(release));
        let slower_than_milliseconds = TrainMember::slower_than_milliseconds(train.as_ref());
        Self {
            format: FORMAT,
            state: ReleaseState { weight: Weight::ZERO, slower_than_milliseconds, ..state },
            initial_weight: (asked > Weight::ZERO).then_some(asked),
            leaving: Vec::new(),
            draining: BTreeMap::new(),
            role_change: None,
            module_rollout: None,
            rollout: None,
            alerts: AlertOutbox::default(),
            stable_pods: None,
            paused: None,
            max_step: release.max_step,
            on_expiry: release.on_expiry,
            service: Box::new(ServiceRef::of(release)),
            proxies: proxies(release),
            train: train.map(Box::new),
            routes: release.routes.unwrap_or_default(),
            metadata: Box::new(release.metadata.clone()),
            objects: Vec::new(),
            history: History::default(),
        }
    }

    /// Reads the record of a release.
    ///
    /// # Errors
    ///
    /// If its format is another one, or a name in it is none that a release can have.
    pub fn parse(release: &ReleaseName, json: &str) -> Result<Self, Error> {
        let record: Self = serde_json::from_str(json).map_err(|error| Error::NoRecord(fault(&error)))?;
        if record.format != FORMAT {
            return Err(Error::NoRecord(format!("format {}", record.format)));
        }
        record.check_names(release).map_err(Error::NoRecord)?;
        Ok(record)
    }

    /// The record as JSON.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON, which no record has caused yet.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map_err(|error| Error::NoRecord(error.to_string()))
    }

    /// Follows the file: roles, and the proxies that serve the release. The caller raises the generation, and only if
    /// something else changes. `by` is the operator, and the time from which versions that leave drain.
    pub fn follow(&mut self, release: &Release, by: Author<'_>, still_runs: impl Fn(&str) -> bool) {
        let generation = self.state.generation;
        let before = [Role::Stable, Role::Canary].map(|role| self.state.version_of(role).map(str::to_owned));
        let revised = self.state.revised(release, still_runs);
        let left = self.state.versions.iter().map(|version| version.name.clone());
        let has_left = |name: &String| revised.versions.iter().all(|version| version.name != *name);
        let left: Vec<String> = left.filter(has_left).collect();
        self.leaving.retain(|name| has_left(name) && !left.contains(name));
        self.leaving.extend(left);
        // A new canary begins like a first one: at weight 0, until its routes are seen.
        let is_new = revised.version_of(Role::Canary) != self.state.version_of(Role::Canary);
        if is_new {
            self.initial_weight = Some(revised.weight).filter(|weight| *weight > Weight::ZERO);
        }
        let weight = if is_new { Weight::ZERO } else { revised.weight };
        self.state = ReleaseState { generation, weight, ..revised };
        self.reconcile_roles(release, &before, by);
        self.max_step = release.max_step;
        self.on_expiry = release.on_expiry;
        *self.service = ServiceRef::of(release);
        self.proxies = proxies(release);
        self.train = TrainMember::of(release).map(Box::new);
        if !self.rollout.as_ref().is_some_and(|rollout| rollout.is_active()) {
            self.state.slower_than_milliseconds = self.slower_than_without_rollout();
        }
        self.routes = release.routes.unwrap_or(self.routes);
        self.service.per_version = self.routes == Routes::GatewayApi;
        *self.metadata = release.metadata.clone();
    }

    /// The time of a slow response that the proxies know while no rollout goes on, in milliseconds; 0 if none is.
    pub(crate) fn slower_than_without_rollout(&self) -> u64 {
        TrainMember::slower_than_milliseconds(self.train.as_deref())
    }

    /// Whether the canary has this share with this end, so that nothing is to be set. While a rollout goes by itself a weight that is
    /// set by hand suspends it, also where it is the same.
    pub fn has_weight(&self, weight: Weight, until: Option<Until>) -> bool {
        let is_rolling_out = self.rollout.as_ref().is_some_and(|rollout| rollout.is_active());
        !is_rolling_out
            && self.initial_weight.is_none()
            && (self.state.weight, self.state.until) == (weight, until)
    }

    /// Gives the canary another share, as the next generation. A weight that is set by hand suspends a rollout.
    pub fn set_weight(&mut self, weight: Weight, until: Option<Until>, by: Author<'_>, operation: Operation) {
        let from = self.state.weight;
        self.state.weight = weight;
        self.state.until = until;
        self.state.generation += 1;
        self.initial_weight = None;
        let is_manual = operation == Operation::Weight;
        self.append_history(by, from, operation);
        if is_manual {
            self.suspend_rollout(by);
        }
    }

    /// A weight was set by hand: the rollout does not go on until somebody resumes it. Told once, however many weights are set.
    fn suspend_rollout(&mut self, by: Author<'_>) {
        let Some(rollout) = self.rollout.as_mut().filter(|rollout| rollout.is_active()) else { return };
        let suspension = Suspension::ManualWeight { by: by.name.to_owned() };
        let reason = suspension.to_string();
        let before = rollout.suspended.replace(suspension);
        if !matches!(before, Some(Suspension::ManualWeight { .. })) {
            self.alert(AlertKind::Suspended, &reason, by.at);
        }
    }

    /// Begins the rollout of a module, as the next generation.
    pub fn begin_module_rollout(&mut self, rollout: ModuleRollout, by: Author<'_>) {
        self.module_rollout = Some(rollout);
        self.state.generation += 1;
        self.append_history(by, self.state.weight, Operation::NewModule);
    }

    /// Reverts to the old module, as the next generation.
    pub fn revert_module_rollout(&mut self, by: Author<'_>) {
        self.state.generation += 1;
        self.append_history(by, self.state.weight, Operation::OldModule);
    }

    /// The objects that hold the configuration of its proxies.
    pub fn config_objects(&self) -> impl Iterator<Item = &Reference> {
        let carries = |(stage, _): &&OwnedObject| *stage == Stage::Configuration;
        self.objects.iter().filter(carries).map(|(_, reference)| reference)
    }

    /// The objects that a change of the configuration is computed from: those that hold it, and during a module rollout the
    /// modules before it.
    pub fn config_inputs(&self) -> impl Iterator<Item = &Reference> {
        let is_input =
            |(stage, _): &&OwnedObject| matches!(stage, Stage::Configuration | Stage::ModuleBackup);
        self.objects.iter().filter(is_input).map(|(_, reference)| reference)
    }

    /// The last operation, as a sentence.
    pub fn last(&self) -> Option<String> {
        self.history.last().map(ToString::to_string)
    }

    /// Appends an operation to the history, as the generation that the record is at.
    pub fn append_history(&mut self, by: Author<'_>, from: Weight, operation: Operation) {
        self.history.append(&self.state, by, from, operation);
    }
}

/// The pods whose proxies serve a release: those of its gateways, and its sidecars.
pub fn proxies(release: &Release) -> Vec<Proxies> {
    let gateways = release.gateways.iter().map(|gateway| &gateway.pods);
    let named =
        |pods: &Selector| Proxies { namespace: pods.namespace.to_string(), labels: pods.labels.clone() };
    let mut all: Vec<_> = gateways.chain(&release.sidecars).map(named).collect();
    all.sort();
    all.dedup();
    all
}

/// The fault of a text that is no record, with its place: the name of the field where one is too many or missing.
fn fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let of_field = ["unknown field", "missing field"].iter().any(|start| text.starts_with(start));
    let found = text.split([',', ' ']).take(3).collect::<Vec<_>>().join(" ");
    let found = if of_field { found.as_str() } else { "another text" };
    format!("{found} at line {} column {}", error.line(), error.column())
}
