//! What a release should be on the cluster now: its file, its record, its keys, and what others have in the same proxies.

use super::rules::Rules;
use super::{Cluster, Error};
use crate::config::KeyRing;
use crate::manifest::{self, Manifest, Member, Options, Place, Stage, held_configuration};
use crate::plan::{HostRule, Object, Record, Reference, Ways, covers_mesh, edits};
use crate::spec::{Mode, Release, Routes};
use assignment::FilterConfig;
use assignment::contract::Position;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is there before anything is worked out.
pub(super) struct Observation {
    observed: BTreeMap<Reference, Value>,
    held: BTreeMap<Place, FilterConfig>,
    rules: Rules,
}

/// What a release should be, and what is there.
pub(super) struct Reconciliation {
    pub(super) desired: Vec<Object>,
    pub(super) observed: BTreeMap<Reference, Value>,
    /// Whether a proxy holds this generation of the release already.
    pub(super) is_held: bool,
    /// What could not be seen.
    pub(super) note: Option<String>,
    /// The subsets that rules of others provide already.
    pub(super) provided: BTreeSet<String>,
}

impl Observation {
    /// The keys that a gateway signs with, whoever has lost them.
    pub(super) fn signing(&self) -> Option<KeyRing> {
        let signs = |config: &&FilterConfig| config.position == Position::Edge && !config.keys.is_empty();
        let config = self.held.values().find(signs)?;
        Some(KeyRing { keys: config.keys.clone(), identity_key: config.identity_key.clone() })
    }
}

impl Cluster {
    /// Looks at the configurations that the proxies hold, at everything that we have written for a release, and at the
    /// rules of others.
    pub(super) async fn observe(&self, release: &Release, record: &Record) -> Result<Observation, Error> {
        let member = member(release, record);
        let places: Vec<Reference> =
            manifest::places(&member)?.into_iter().map(|place| configuration(release, place)).collect();
        let known = record.objects.iter().map(|(_, reference)| reference);
        let observed = self.get_all(places.iter().chain(known)).await?;
        let mut held = BTreeMap::new();
        for reference in &places {
            if let Some(config) = observed.get(reference).map(held_configuration).transpose()?.flatten() {
                held.insert((reference.namespace.clone(), reference.name.clone()), config);
            }
        }
        let rules = self.rules(release.name.namespace.as_str(), record).await?;
        Ok(Observation { observed, held, rules })
    }

    /// Works out what a release should be.
    pub(super) async fn reconcile(
        &self,
        release: &Release,
        record: &Record,
        keys: &KeyRing,
        observation: Observation,
    ) -> Result<Reconciliation, Error> {
        let Observation { mut observed, held, rules } = observation;
        let options = Options { keys, show_keys: true, held: &held };
        let mut desired = objects(&manifest::manifests(&[member(release, record)], options)?)?;
        if record.routes == Routes::Edit {
            self.add_edits(release, record, &mut desired, &mut observed).await?;
        }
        self.fit_in(release, record, &rules.found, &mut desired).await?;
        observed.extend(self.get_all(unseen(&desired, &observed)).await?);
        let name = release.name.to_string();
        let generation = |config: &FilterConfig| config.releases.get(&name).map(|entry| entry.generation);
        let is_held = held.values().filter_map(generation).any(|held| held >= record.standing.generation);
        let is_ours = |rule: &&HostRule| desired.iter().any(|object| object.reference == rule.reference);
        let others = rules.found.iter().filter(|rule| !is_ours(rule));
        let provided = others.flat_map(|rule| rule.subset_names().map(str::to_owned)).collect();
        Ok(Reconciliation { desired, observed, is_held, note: rules.note(), provided })
    }
}

impl Cluster {
    /// Puts our routes into what others have written. Where that answers inside the mesh too, nothing of ours has to.
    async fn add_edits(
        &self,
        release: &Release,
        record: &Record,
        desired: &mut Vec<Object>,
        observed: &mut BTreeMap<Reference, Value>,
    ) -> Result<(), Error> {
        let way = Ways::of(&release.name.to_string(), record);
        let found = self.virtual_services(release.name.namespace.as_str()).await?;
        if covers_mesh(&way, &found) {
            desired.retain(|object| object.stage != Stage::Routes);
        }
        desired.extend(edits(&way, &found)?);
        for body in found {
            observed.insert(Reference::of(&body)?, body);
        }
        Ok(())
    }
}

pub(super) fn member<'r>(release: &'r Release, record: &Record) -> Member<'r> {
    Member {
        release,
        standing: record.standing.clone(),
        leaving: record.leaving.clone(),
        routes: record.routes,
    }
}

fn objects(manifests: &[Manifest]) -> Result<Vec<Object>, Error> {
    let mut objects = Vec::new();
    for manifest in manifests {
        objects.extend(Object::of(manifest)?);
    }
    Ok(objects)
}

fn unseen<'o>(desired: &'o [Object], observed: &BTreeMap<Reference, Value>) -> Vec<&'o Reference> {
    let is_unseen = |reference: &&Reference| !observed.contains_key(*reference);
    desired.iter().map(|object| &object.reference).filter(is_unseen).collect()
}

/// The object that holds the configuration at a place.
fn configuration(release: &Release, (namespace, name): manifest::Place) -> Reference {
    let (api_version, kind) = match release.delivery.mode {
        Mode::WasmPlugin => ("extensions.istio.io/v1alpha1", "WasmPlugin"),
        Mode::TrafficExtension => ("extensions.istio.io/v1alpha1", "TrafficExtension"),
        Mode::EnvoyFilter | Mode::Local => ("networking.istio.io/v1alpha3", "EnvoyFilter"),
    };
    Reference { api_version: api_version.to_owned(), kind: kind.to_owned(), namespace, name }
}
