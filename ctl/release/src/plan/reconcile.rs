//! From the objects of a cluster to the objects that a release should have there: its file, its record, its keys, and what
//! others have in the same proxies.

use super::beside_routes::beside_routes;
use super::{Error, GatewayApiObjects, Plan, install};
use crate::config::SigningKeys;
use crate::delivery::{beside_config, deployed_config, resource_name};
use crate::destination_rule::{CalledService, Client, HostRule, merge_rule};
use crate::manifest::{self, Options, ReleaseInstance};
use crate::object::{NamespacedName, Object, Reference, Stage};
use crate::plan::{edits, removal_of_left};
use crate::record::{OwnedObject, Record};
use crate::routing::{ROUTE_KIND, covers_mesh};
use crate::spec::{Release, ReleaseName, Routes};
use assignment::FilterConfig;
use assignment::contract::Position;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const SERVICE_KIND: &str = "Service";

/// The observed state: what exists on a cluster, as far as a release is concerned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// The whole host name of the release's Service.
    pub service_host: String,
    /// Objects by name: those that we have written, and those that hold configurations. One that does not exist is missing.
    pub objects: BTreeMap<Reference, Value>,
    /// The route objects of the release's namespace.
    pub route_objects: BTreeMap<Reference, Value>,
    /// The `DestinationRule`s for the release's Service.
    pub rules: Vec<HostRule>,
    /// The proxies of the release, as `DestinationRule`s select them.
    pub clients: Vec<Client>,
    /// The objects that routes beside `HTTPRoute`s follow from; none where the routes are of another kind.
    pub gateway_api: Box<GatewayApiObjects>,
}

/// The desired state of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// The objects that it should have.
    pub objects: Vec<Object>,
    /// Whether a proxy has this generation of the release, or a later one, already.
    pub is_deployed: bool,
    /// The subsets that rules of others provide.
    pub provided: BTreeSet<String>,
}

impl Observed {
    /// The configurations in the proxies of a release, by namespace and name of their objects.
    ///
    /// # Errors
    ///
    /// If an object under one of these names holds a configuration that is not ours.
    pub fn deployed_configs(
        &self,
        release: &Release,
        record: &Record,
    ) -> Result<BTreeMap<NamespacedName, FilterConfig>, Error> {
        let mut configs = BTreeMap::new();
        for reference in config_references(release, record)? {
            if let Some(config) = self.objects.get(&reference).map(deployed_config).transpose()?.flatten() {
                configs.insert(reference.place(), config);
            }
        }
        Ok(configs)
    }

    /// The names under which the filters of a release ask for their configurations, by namespace and name of these.
    fn resource_names(
        &self,
        release: &Release,
        record: &Record,
    ) -> Result<BTreeMap<NamespacedName, String>, Error> {
        let mut names = BTreeMap::new();
        for reference in config_references(release, record)? {
            let [_, (_, filter)] = beside_config(&reference);
            let filter = self.objects.get(&filter);
            names.extend(filter.and_then(resource_name).map(|name| (reference.place(), name.to_owned())));
        }
        Ok(names)
    }

    /// The keys that a gateway of the release signs with. The identity key is that of any gateway's configuration that has
    /// it: a configuration without a keyed release has none, and another one must not be drawn for that.
    ///
    /// # Errors
    ///
    /// As [`deployed_configs`](Self::deployed_configs).
    pub fn signing_keys(&self, release: &Release, record: &Record) -> Result<Option<SigningKeys>, Error> {
        let signs = |config: &FilterConfig| config.position == Position::Edge && !config.keys.is_empty();
        let configs = self.deployed_configs(release, record)?;
        let mut gateways = configs.into_values().filter(signs);
        let Some(first) = gateways.next() else { return Ok(None) };
        let identity_key = first.identity_key.or_else(|| gateways.find_map(|config| config.identity_key));
        Ok(Some(SigningKeys { keys: first.keys, identity_key }))
    }

    /// Replaces what was observed of one object: after it was written, or read again. `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If a `DestinationRule` cannot be read.
    pub fn replace(&mut self, reference: &Reference, body: Option<Value>) -> Result<(), Error> {
        let is_rule = |rule: &HostRule| rule.reference == *reference;
        if let Some(place) = self.rules.iter().position(is_rule) {
            self.rules.remove(place);
        }
        let Some(body) = body else {
            self.objects.remove(reference);
            self.route_objects.remove(reference);
            return Ok(());
        };
        match reference.kind.as_str() {
            "DestinationRule" => {
                let rule = HostRule::of(&body)?;
                self.rules.extend(Some(rule).filter(|rule| rule.matches(&self.service_host)));
            }
            ROUTE_KIND => drop(self.route_objects.insert(reference.clone(), body.clone())),
            _ => {}
        }
        self.objects.insert(reference.clone(), body);
        Ok(())
    }

    /// Everything that a desired object can be compared with.
    fn all(&self) -> BTreeMap<Reference, Value> {
        let mut all = self.route_objects.clone();
        all.extend(self.objects.clone());
        all
    }

    /// The route objects of the release's namespace, without their names.
    pub fn route_object_bodies(&self) -> Vec<Value> {
        self.route_objects.values().cloned().collect()
    }
}

impl Desired {
    /// Works out what a release should have on a cluster.
    ///
    /// # Errors
    ///
    /// If releases that share a proxy disagree, an object becomes too large, the existing `DestinationRule`s leave no place for
    /// ours, or routes that are to be injected find no route object.
    pub fn of(
        release: &Release,
        record: &Record,
        keys: &SigningKeys,
        observed: &Observed,
    ) -> Result<Self, Error> {
        let configs = observed.deployed_configs(release, record)?;
        let resource_names = observed.resource_names(release, record)?;
        let options = Options { keys, show_keys: true, held: &configs, resource_names: &resource_names };
        let mut objects = Vec::new();
        for manifest in &manifest::manifests(&[member(release, record)], options)? {
            objects.extend(Object::of(manifest)?);
        }
        if record.routes == Routes::Inject {
            let targets = record.route_targets(&release.name.to_string());
            let found = observed.route_object_bodies();
            // If a route object of another owner serves the host inside the mesh, none of ours is needed.
            if covers_mesh(&release.service_host(), &found) {
                objects.retain(|object| object.stage != Stage::Routes);
            }
            objects.extend(edits(&targets, &found)?);
        }
        merge_rules(release, observed, &mut objects)?;
        if record.routes == Routes::GatewayApi {
            objects.extend(beside_routes(&release.name, record, observed)?);
        }
        keep_metadata_of_others(release, observed, &mut objects)?;
        let name = release.name.to_string();
        let generation = |config: &FilterConfig| config.releases.get(&name).map(|entry| entry.generation);
        let is_deployed = configs.values().filter_map(generation).any(|at| at >= record.state.generation);
        let is_ours = |rule: &&HostRule| objects.iter().any(|object| object.reference == rule.reference);
        let others = observed.rules.iter().filter(|rule| !is_ours(rule));
        let provided = others.flat_map(|rule| rule.subset_names().map(str::to_owned)).collect();
        Ok(Self { objects, is_deployed, provided })
    }

    /// The plan from the observed state to this one.
    ///
    /// # Errors
    ///
    /// If an object that is to be deleted holds a configuration that is not ours.
    pub fn plan(&self, release: &Release, record: &Record, observed: &Observed) -> Result<Plan, Error> {
        let targets = record.route_targets(&release.name.to_string());
        install(&targets, &self.objects, &observed.all(), &record.objects)
    }

    /// The plan that deletes what only served removed versions: what these had for themselves, too.
    pub fn prune(&self, release: &ReleaseName, record: &Record, observed: &Observed) -> Plan {
        let mut plan = super::prune(&self.objects, &observed.all());
        plan.changes.extend(removal_of_left(&release.to_string(), record, &observed.objects));
        plan
    }

    /// The objects that a release owns once this is written.
    pub fn owned(&self) -> Vec<OwnedObject> {
        self.objects.iter().map(|object| (object.stage, object.reference.clone())).collect()
    }

    /// The number of new subsets: each is a cluster in every proxy, or several if the Service has several ports. If
    /// another rule has a subset of the same name, its cluster exists already.
    pub fn new_subsets(&self, observed: &Observed) -> usize {
        let rules = self.objects.iter().filter(|object| object.stage == Stage::Subsets);
        let coming = rules.map(|rule| {
            if rule.reference.kind == SERVICE_KIND {
                return usize::from(!observed.objects.contains_key(&rule.reference));
            }
            let existing = observed.objects.get(&rule.reference).map(subset_names).unwrap_or_default();
            let coming = subset_names(&rule.body);
            coming.difference(&existing).filter(|name| !self.provided.contains(**name)).count()
        });
        coming.sum()
    }
}

/// The objects that hold the configurations of a release's proxies.
///
/// # Errors
///
/// If the releases of one proxy disagree about the delivery.
pub fn config_references(release: &Release, record: &Record) -> Result<Vec<Reference>, Error> {
    let object = release.delivery.mode.config_object();
    let places = manifest::places(&member(release, record))?;
    let references = places
        .iter()
        .map(|(namespace, name)| Reference::new(object.api_version, object.kind, namespace, name));
    Ok(references.collect())
}

fn member<'r>(release: &'r Release, record: &Record) -> ReleaseInstance<'r> {
    ReleaseInstance {
        release,
        state: record.state.clone(),
        leaving: record.leaving.clone(),
        routes: record.routes,
    }
}

/// Merges our rule with those of others.
fn merge_rules(release: &Release, observed: &Observed, objects: &mut [Object]) -> Result<(), Error> {
    let called = CalledService { host: &observed.service_host, namespace: release.name.namespace.as_str() };
    for ours in objects.iter_mut().filter(|object| object.stage == Stage::Subsets) {
        merge_rule(ours, &observed.rules, &observed.clients, called)?;
    }
    Ok(())
}

/// Keeps what other releases give the objects that they share with this one.
fn keep_metadata_of_others(
    release: &Release,
    observed: &Observed,
    objects: &mut [Object],
) -> Result<(), Error> {
    let is_shared = |stage: Stage| matches!(stage, Stage::Configuration | Stage::Runtime | Stage::Filter);
    for ours in objects.iter_mut().filter(|object| is_shared(object.stage)) {
        if let Some(seen) = observed.objects.get(&ours.reference) {
            manifest::keep_others(&mut ours.body, seen, &release.name.to_string())?;
        }
    }
    Ok(())
}

fn subset_names(rule: &Value) -> BTreeSet<&str> {
    let subsets = rule.pointer("/spec/subsets").and_then(Value::as_array);
    subsets.into_iter().flatten().filter_map(|subset| subset.get("name")?.as_str()).collect()
}
