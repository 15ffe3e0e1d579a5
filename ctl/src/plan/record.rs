//! What is kept of a release between two calls: what it is asked to be, where its objects are, and who did what.
//!
//! The record is written before the objects, so it is never behind them: a call that was killed leaves a record that
//! the next call carries out.

use super::{Error, Pause, Reference, RoleChange, Trial};
use crate::config::{History, Standing};
use crate::manifest::Stage;
use crate::spec::{Release, Routes, Selector};
use assignment::Weight;
use assignment::contract::{Role, Until, UntilAction};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The shape that this tool writes.
pub(super) const FORMAT: u32 = 1;

/// An object that we have written, or are about to.
pub type OwnedObject = (Stage, Reference);

/// What is kept of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    format: u32,
    /// Versions, roles, epochs, weight, generation.
    pub standing: Standing,
    /// The weight of the file, until the first configuration has been seen everywhere at weight 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_weight: Option<Weight>,
    /// Versions that have left, whose routes and subsets are there until every proxy ignores their pins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaving: Vec<String>,
    /// The versions that drain, and until when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub draining: BTreeMap<String, jiff::Timestamp>,
    /// The last promotion or rollback, until another canary comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_change: Option<RoleChange>,
    /// A new module that not every proxy was seen to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// Who has stopped it from changing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// The largest raise without being asked twice.
    pub max_step: Weight,
    /// What happens when a weight expires.
    pub until_action: UntilAction,
    /// The pods behind the release.
    pub service: Service,
    /// The proxies that serve the release.
    pub proxies: Vec<Proxies>,
    /// Who writes the routes.
    #[serde(default)]
    pub routes: Routes,
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

/// The pods behind a release, as its file names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The Kubernetes Service.
    pub name: String,
    /// The label that tells versions apart.
    pub label: String,
}

impl Record {
    /// A release that nobody has seen yet. Its configuration comes at weight 0, whatever its file says.
    pub fn first(release: &Release, standing: Standing) -> Self {
        let asked = standing.weight;
        Self {
            format: FORMAT,
            standing: Standing { weight: Weight::ZERO, ..standing },
            initial_weight: (asked > Weight::ZERO).then_some(asked),
            leaving: Vec::new(),
            draining: BTreeMap::new(),
            role_change: None,
            trial: None,
            paused: None,
            max_step: release.max_step,
            until_action: release.until_action,
            service: service(release),
            proxies: proxies(release),
            routes: release.routes.unwrap_or_default(),
            objects: Vec::new(),
            history: History::default(),
        }
    }

    /// Reads a record. Fails on another format.
    pub fn parse(json: &str) -> Result<Self, Error> {
        let record: Self = serde_json::from_str(json).map_err(Error::NoRecord)?;
        if record.format == FORMAT {
            return Ok(record);
        }
        let found = format!("found format {}", record.format);
        Err(Error::NoRecord(serde::de::Error::custom(found)))
    }

    /// The record as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map_err(Error::NoRecord)
    }

    /// Follows the file: roles, and the proxies that serve the release. The generation is the caller's: it rises only if
    /// something else does. `by` is who asks.
    pub fn follow(&mut self, release: &Release, by: &str, still_runs: impl Fn(&str) -> bool) {
        let generation = self.standing.generation;
        let before =
            [Role::Stable, Role::Canary].map(|role| self.standing.version_of(role).map(str::to_owned));
        let revised = self.standing.revised(release, still_runs);
        let left = self.standing.versions.iter().map(|version| version.name.clone());
        let has_left = |name: &String| revised.versions.iter().all(|version| version.name != *name);
        let left: Vec<String> = left.filter(has_left).collect();
        self.leaving.retain(|name| has_left(name) && !left.contains(name));
        self.leaving.extend(left);
        // A new canary begins like a first one: at weight 0, until its routes are seen.
        let is_new = revised.version_of(Role::Canary) != self.standing.version_of(Role::Canary);
        if is_new {
            self.initial_weight = Some(revised.weight).filter(|weight| *weight > Weight::ZERO);
        }
        let weight = if is_new { Weight::ZERO } else { revised.weight };
        self.standing = Standing { generation, weight, ..revised };
        self.reconcile_roles(release, &before, by);
        self.max_step = release.max_step;
        self.until_action = release.until_action;
        self.service = service(release);
        self.proxies = proxies(release);
        self.routes = release.routes.unwrap_or(self.routes);
    }

    /// Gives the canary another share, as the next generation. `why` is the verb that does it.
    pub fn set_weight(&mut self, weight: Weight, until: Option<Until>, by: &str, why: &str) {
        let from = self.standing.weight;
        self.standing.weight = weight;
        self.standing.until = until;
        self.standing.generation += 1;
        self.initial_weight = None;
        self.note(by, from, why);
    }

    /// Tries a module, as the next generation.
    pub fn begin_trial(&mut self, trial: Trial, by: &str) {
        self.trial = Some(trial);
        self.standing.generation += 1;
        self.note(by, self.standing.weight, "new module");
    }

    /// Goes back to the module before, as the next generation.
    pub fn take_trial_back(&mut self, by: &str) {
        self.standing.generation += 1;
        self.note(by, self.standing.weight, "old module");
    }

    /// The objects that hold the configuration of its proxies.
    pub fn config_objects(&self) -> impl Iterator<Item = &Reference> {
        let carries = |(stage, _): &&OwnedObject| *stage == Stage::Configuration;
        self.objects.iter().filter(carries).map(|(_, reference)| reference)
    }

    /// The last thing that was done, as a person says it.
    pub fn last(&self) -> Option<String> {
        self.history.last().map(ToString::to_string)
    }

    /// Notes who did what, as the generation that the record is at.
    pub fn note(&mut self, by: &str, from: Weight, why: &str) {
        self.history.note(&self.standing, by, from, why);
    }
}

fn service(release: &Release) -> Service {
    Service { name: release.service.name.to_string(), label: release.versions.label.clone() }
}

pub(super) fn proxies(release: &Release) -> Vec<Proxies> {
    let gateways = release.gateways.iter().map(|gateway| &gateway.pods);
    let named =
        |pods: &Selector| Proxies { namespace: pods.namespace.to_string(), labels: pods.labels.clone() };
    let mut all: Vec<_> = gateways.chain(&release.sidecars).map(named).collect();
    all.sort();
    all.dedup();
    all
}
