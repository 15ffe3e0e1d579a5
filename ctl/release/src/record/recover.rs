//! The record of a release, read back from its objects where the record itself was deleted.
//!
//! The objects have everything that a proxy depends on: versions, roles, epochs, weight, generation and installation. What they do not
//! have is given up: the history, a pause, a rollout, and the deadlines of drains, which begin again.
//!
//! An object decides what is written in its own namespace. A configuration in another namespace counts only if the file of the release names
//! proxies there, or if all namespaces say the same: else who may write an `EnvoyFilter` in one could change the release in the others.

use super::recover_versions::{plain_service, version_name, version_objects};
use super::release_record::FORMAT;
use super::{Author, History, Operation, OwnedObject, Proxies, Record, RoleChange, ServiceRef, ends_after};
use crate::alert::AlertOutbox;
use crate::delivery::{beside_config, deployed_config, module_backup, selected_pods};
use crate::manifest::SharedMetadata;
use crate::object::{Reference, Stage};
use crate::routing::{ROUTE_KIND, RouteKind, has_injected_route};
use crate::spec::{Milliseconds, ObjectMetadata, ReleaseName, Routes, Seconds, version_subset};
use crate::state::{ReleaseState, TrainMember};
use assignment::Weight;
use assignment::contract::{GoneVersion, Position, ReleaseConfig, Role};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The largest raise of a release whose file does not say it: half of the users.
const MAX_STEP: u32 = 5_000;

/// A configuration that contains the release.
struct Deployed<'o> {
    reference: Reference,
    object: &'o Value,
    position: Position,
    entry: ReleaseConfig,
}

/// The namespaces whose configurations a record is read back from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryScope<'n> {
    /// Those of the proxies in the file of the release.
    File(&'n BTreeSet<String>),
    /// All: there is no file. They have to agree.
    All,
}

/// The reason for which no record can be recovered.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// Two namespaces have different configurations of the release, and no file says which of them count.
    #[error(
        "expected one state of release `{release}` in all namespaces, found different ones in {}",
        namespaces.iter().map(|namespace| format!("`{namespace}`")).collect::<Vec<_>>().join(" and ")
    )]
    Ambiguous { release: String, namespaces: BTreeSet<String> },
}

/// The record that these objects were written for; `None` if none of them contains a configuration of the release that `apply` has
/// written. `by` is the operator who needs it, and the time.
///
/// Objects of other releases are ignored, so whole lists can be given.
///
/// # Errors
///
/// If there is no file and the namespaces do not agree.
pub fn recover(
    release: &ReleaseName,
    objects: &[Value],
    scope: RecoveryScope<'_>,
    by: Author<'_>,
) -> Result<Option<Record>, RecoverError> {
    let deployed = deployed_in_scope(release, objects, scope)?;
    // An operation that was interrupted leaves some behind.
    let Some(latest) = deployed.iter().max_by_key(|one| one.entry.generation) else { return Ok(None) };
    let state = state_of(&latest.entry);
    let (own, service) = own_objects_and_service(release, objects, &state);
    let remaining: BTreeSet<&str> = own.iter().flat_map(|(_, _, object)| subsets(object)).collect();
    let remains = |gone: &GoneVersion| {
        let name = version_name(release, &gone.name);
        remaining.contains(version_subset(&gone.name).as_str())
            || own.iter().any(|(stage, object, _)| stage.is_route() && name.has(object))
    };
    let leaves = |gone: &&GoneVersion| state.has_gone(&gone.name) && remains(gone);
    let drain = latest.entry.pin.as_ref().and_then(|pin| Seconds::new(pin.max_age_seconds));
    let draining = state.versions.iter().filter(|version| version.role == Role::Draining);
    let mut record = Record {
        format: FORMAT,
        initial_weight: None,
        leaving: state.gone.iter().filter(leaves).map(|gone| gone.name.clone()).collect(),
        draining: draining.map(|version| (version.name.clone(), ends_after(by.at, drain))).collect(),
        role_change: last_promotion(&state, by),
        module_rollout: None,
        rollout: None,
        alerts: AlertOutbox::default(),
        stable_pods: None,
        paused: None,
        max_step: Weight::new(MAX_STEP).unwrap_or(Weight::FULL),
        on_expiry: state.until.map(|until| until.action).unwrap_or_default(),
        service: Box::new(service.unwrap_or_else(|| ServiceRef {
            name: release.name.to_string(),
            label: "version".to_owned(),
            per_version: false,
        })),
        proxies: proxies(&deployed),
        train: train(&deployed, &latest.entry).map(Box::new),
        routes: routes_of(&own),
        metadata: Box::new(metadata_of(latest.object, release)),
        objects: inventory(&deployed, &own, objects),
        history: History::default(),
        state,
    };
    record.append_history(by, record.state.weight, Operation::Recover);
    Ok(Some(record))
}

/// The objects of a release beside its configurations, and the Service whose pods they tell apart.
fn own_objects_and_service<'o>(
    release: &ReleaseName,
    objects: &'o [Value],
    state: &ReleaseState,
) -> (Vec<(Stage, Reference, &'o Value)>, Option<ServiceRef>) {
    let mut own = own_objects(release, objects);
    let of_versions = version_objects(release, objects, state);
    if of_versions.is_empty() {
        let mut rules = own.iter().filter(|(stage, ..)| *stage == Stage::Subsets);
        let service = rules.find_map(|(_, _, object)| service_of(object, state));
        return (own, service);
    }
    let service = plain_service(release, &of_versions, state);
    own.retain(|(stage, ..)| *stage == Stage::ModuleBackup);
    own.extend(of_versions);
    (own, service)
}

impl Record {
    /// The same with what the objects do not say, as an operator accepts it from a record whose seals are not genuine: the history, a pause, the last
    /// promotion or rollback, and the deadlines of drains.
    #[must_use]
    pub fn with_memory_of(mut self, other: Self) -> Self {
        let is_live = |state: &ReleaseState, name: &str| state.versions.iter().any(|one| one.name == name);
        let mut draining = other.draining;
        draining.retain(|name, _| self.draining.contains_key(name));
        self.draining.extend(draining);
        self.role_change = other.role_change.filter(|change| is_live(&self.state, &change.to));
        self.paused = other.paused;
        self.stable_pods = other.stable_pods;
        let recovered = std::mem::replace(&mut self.history, other.history);
        if let Some(entry) = recovered.last() {
            self.history.append(
                &self.state,
                Author::new(&entry.by, entry.at),
                entry.from,
                Operation::Recover,
            );
        }
        self
    }
}

/// The configurations that count.
fn deployed_in_scope<'o>(
    release: &ReleaseName,
    objects: &'o [Value],
    scope: RecoveryScope<'_>,
) -> Result<Vec<Deployed<'o>>, RecoverError> {
    let mut deployed: Vec<Deployed<'o>> =
        objects.iter().filter_map(|object| deployed_in(object, release)).collect();
    let namespace = |one: &Deployed<'_>| one.reference.namespace.clone();
    let is_of_file = |one: &Deployed<'_>| match scope {
        RecoveryScope::File(namespaces) => namespaces.contains(&one.reference.namespace),
        RecoveryScope::All => false,
    };
    if deployed.iter().any(is_of_file) {
        deployed.retain(is_of_file);
        return Ok(deployed);
    }
    let agrees = |one: &Deployed<'_>, other: &Deployed<'_>| {
        namespace(one) == namespace(other)
            || (one.entry.generation == other.entry.generation
                && state_of(&one.entry) == state_of(&other.entry))
    };
    let Some(first) = deployed.first() else { return Ok(deployed) };
    if deployed.iter().all(|other| agrees(first, other)) {
        return Ok(deployed);
    }
    let namespaces = deployed.iter().map(namespace).collect();
    Err(RecoverError::Ambiguous { release: release.to_string(), namespaces })
}

/// The promotion whose old version drains: versions are listed by age, so a version that drains and is older than stable was stable before it.
fn last_promotion(state: &ReleaseState, by: Author<'_>) -> Option<RoleChange> {
    let stable = state.versions.iter().position(|version| version.role == Role::Stable)?;
    let mut draining =
        state.versions.iter().enumerate().filter(|(_, version)| version.role == Role::Draining);
    let (Some((at, from)), None) = (draining.next(), draining.next()) else { return None };
    let has_canary = state.version_of(Role::Canary).is_some();
    let to = state.version_of(Role::Stable)?;
    (at < stable && !has_canary).then(|| RoleChange::promotion_read_back(&from.name, to, by))
}

/// The configuration of the release in an object. One that `generate` has printed has no time of installation: no record was
/// written for it.
fn deployed_in<'o>(object: &'o Value, release: &ReleaseName) -> Option<Deployed<'o>> {
    let mut config = deployed_config(object).ok()??;
    let entry = config.releases.remove(&release.to_string())?;
    let reference = Reference::of(object).ok()?;
    let position = config.position;
    (entry.installed_at_seconds > 0).then_some(Deployed { reference, object, position, entry })
}

/// The train of a release. Its other namespaces, and whether 4xx and lost sessions count as failures, are in its file alone.
fn train(deployed: &[Deployed<'_>], entry: &ReleaseConfig) -> Option<TrainMember> {
    let name = entry.train.clone()?;
    let is_inner = deployed.iter().all(|one| one.position == Position::Mesh);
    let slower_than = Milliseconds::try_from(entry.slower_than_milliseconds).ok();
    let namespaces = BTreeSet::new();
    Some(TrainMember { name, is_inner, namespaces, client_errors: false, slower_than, lost_sessions: false })
}

/// The labels and annotations that the release gives an object which it shares with others.
fn metadata_of(object: &Value, release: &ReleaseName) -> ObjectMetadata {
    SharedMetadata::of(object).release(&release.to_string()).cloned().unwrap_or_default()
}

fn state_of(entry: &ReleaseConfig) -> ReleaseState {
    let stable = entry.versions.iter().find(|version| version.role == Role::Stable);
    let stable = stable.map(|version| version.name.clone()).unwrap_or_default();
    ReleaseState {
        uid: entry.uid.clone(),
        generation: entry.generation,
        weight: entry.weight,
        until: entry.until,
        versions: entry.versions.clone(),
        gone: entry.gone.clone(),
        adopt: entry.adopt.clone().unwrap_or(stable),
        installed_at_seconds: entry.installed_at_seconds,
        // The record of the rollout is lost, so nothing reads what would be counted for it.
        rollout_since_seconds: 0,
        slower_than_milliseconds: 0,
    }
}

/// Its objects in its own namespace: subsets, and routes of ours or within objects of others.
fn own_objects<'o>(release: &ReleaseName, objects: &'o [Value]) -> Vec<(Stage, Reference, &'o Value)> {
    let own = format!("{}-canary", release.name);
    let stage = |object: &Value, reference: &Reference| {
        if reference.namespace != release.namespace.as_str() {
            return None;
        }
        let is_own = reference.name == own || reference.name == format!("{own}-mesh");
        match reference.kind.as_str() {
            "DestinationRule" if is_own => Some(Stage::Subsets),
            ROUTE_KIND if is_own => Some(Stage::Routes),
            ROUTE_KIND if has_injected_route(object, release) => Some(Stage::Edits),
            _ if *reference == module_backup(release) => Some(Stage::ModuleBackup),
            _ => None,
        }
    };
    let own = |object: &'o Value| {
        let reference = Reference::of(object).ok()?;
        Some((stage(object, &reference)?, reference, object))
    };
    objects.iter().filter_map(own).collect()
}

fn routes_of(own: &[(Stage, Reference, &Value)]) -> Routes {
    match own.iter().find(|(stage, ..)| stage.is_route()) {
        Some((Stage::Edits, ..)) => Routes::Inject,
        Some((_, object, _)) if RouteKind::of(&object.kind).is_some() => Routes::GatewayApi,
        Some(_) => Routes::Managed,
        None => Routes::External,
    }
}

/// The Service of a rule, and the label by which its subsets select the versions.
fn service_of(rule: &Value, state: &ReleaseState) -> Option<ServiceRef> {
    let host = rule.pointer("/spec/host")?.as_str()?;
    let subsets = rule.pointer("/spec/subsets")?.as_array()?;
    let mut labels = subsets.iter().filter_map(|subset| subset.get("labels")?.as_object()).flatten();
    let is_version =
        |value: &Value| state.versions.iter().any(|version| Some(version.name.as_str()) == value.as_str());
    let (label, _) = labels.find(|(_, value)| is_version(value))?;
    Some(ServiceRef { name: host.split('.').next()?.to_owned(), label: label.clone(), per_version: false })
}

fn subsets(rule: &Value) -> impl Iterator<Item = &str> {
    let subsets = rule.pointer("/spec/subsets").and_then(Value::as_array).into_iter().flatten();
    subsets.filter_map(|subset| subset.get("name")?.as_str())
}

fn proxies(deployed: &[Deployed<'_>]) -> Vec<Proxies> {
    let named = |one: &Deployed<'_>| Proxies {
        namespace: one.reference.namespace.clone(),
        labels: selected_pods(one.object),
    };
    let mut all: Vec<Proxies> = deployed.iter().map(named).collect();
    all.sort();
    all.dedup();
    all
}

/// Everything that was written for it, in the order of stages.
fn inventory(
    deployed: &[Deployed<'_>],
    own: &[(Stage, Reference, &Value)],
    objects: &[Value],
) -> Vec<OwnedObject> {
    let existing: BTreeMap<(String, String), Reference> = objects
        .iter()
        .filter_map(|object| Reference::of(object).ok())
        .filter(|reference| reference.kind == "EnvoyFilter")
        .map(|reference| (reference.place(), reference))
        .collect();
    let exists =
        |(stage, reference): (Stage, Reference)| Some((stage, existing.get(&reference.place())?.clone()));
    let mut all: Vec<OwnedObject> =
        own.iter().map(|(stage, reference, _)| (*stage, reference.clone())).collect();
    for one in deployed {
        all.push((Stage::Configuration, one.reference.clone()));
        all.extend(beside_config(&one.reference).into_iter().filter_map(exists));
    }
    all.sort_by_key(|(stage, _)| *stage);
    all
}
