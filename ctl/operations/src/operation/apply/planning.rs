//! What `apply` is going to write: worked out from one snapshot of the cluster.

use super::rollout::SHARED;
use super::snapshot::{Basis, Snapshot};
use crate::client::ServicePods;
use crate::stores::first_record::first_record;
use crate::stores::key_store::GatewayKeys;
use crate::{Cluster, Error, StoredRecord};
use assignment::contract::Role;
use canary_release::config;
use canary_release::delivery::{ModuleContents, ModuleRollout, deployed_config};
use canary_release::object::{Object, Reference, Stage};
use canary_release::plan::{self, Desired, Plan, PlanNote, default_routes, order};
use canary_release::record::{Author, Operation, Record};
use canary_release::spec::{Release, Routes};
use serde_json::Value;

/// Everything that is known before the first write.
pub(crate) struct Planned {
    pub(crate) before: Option<Record>,
    /// The record as it will be, with the version that it replaces.
    pub(crate) stored: StoredRecord,
    pub(super) keys: GatewayKeys,
    pub(super) snapshot: Snapshot,
    pub(crate) desired: Desired,
    pub(crate) plan: Plan,
    /// The pods behind the Service; `None` for a release that is not there yet.
    pub(super) pods: Option<ServicePods>,
}

impl Cluster {
    /// Plans an `apply` from the record that was found, if there is one. Reads only.
    ///
    /// # Errors
    ///
    /// If the file is older than a promotion or a rollback, or no plan leads to its desired state.
    pub(crate) async fn plan_apply(
        &self,
        release: &Release,
        found: Option<StoredRecord>,
        allow_rolled_back: bool,
    ) -> Result<Planned, Error> {
        let before = found.as_ref().map(|stored| stored.record.clone());
        let mut stored = found.unwrap_or_else(|| StoredRecord::new(first_record(release)));
        let Basis { keys, route_objects, routes_elsewhere, servers, pods } =
            self.basis(release, before.as_ref()).await?;
        let record = &mut stored.record;
        record.module_rollout = None;
        let choice = choose_routes(release, before.as_ref(), record, &route_objects)?;
        check_same_routes(release, before.as_ref())?;
        if let Some(pods) = &pods {
            record.accept(release, allow_rolled_back)?;
            let running = running(record, pods);
            record.follow(release, self.author(), |version| running.iter().any(|other| other == version));
        }
        if record.routes == Routes::GatewayApi {
            record
                .state
                .draw_routing(&release.name)
                .map_err(config::Error::from)
                .map_err(plan::Error::from)?;
        }
        let mut snapshot = self.snapshot(release, record, &route_objects).await?;
        (snapshot.routes_elsewhere, snapshot.servers) = (routes_elsewhere, servers);
        let keys = keys.or_signing(snapshot.observed.signing_keys(release, record)?);
        let desired = Desired::of(release, record, &keys.or_placeholder(), &snapshot.observed)?;
        let plan = desired.plan(release, record, &snapshot.observed)?;
        let mut planned = Planned { before, stored, keys, snapshot, desired, plan, pods };
        planned.raise_generation(release, self.author())?;
        let routes = choice.into_iter().chain(planned.route_order(release)?).map(PlanNote::Routes);
        planned.plan.notes = routes.chain(planned.snapshot.notes.clone()).collect();
        Ok(planned)
    }
}

impl Cluster {
    /// A plan under the Leases of the release and of its shared objects: the earlier one, if the record is the same still,
    /// with the shared objects as they are now.
    pub(super) async fn plan_current(
        &self,
        release: &Release,
        earlier: Option<Planned>,
        allow_rolled_back: bool,
    ) -> Result<Planned, Error> {
        let found = self.find_or_recover(release).await?;
        let is_current =
            |planned: &Planned| found.as_ref().is_some_and(|found| found.has_version_of(&planned.stored));
        let Some(mut planned) = earlier.filter(is_current) else {
            return self.plan_apply(release, found, allow_rolled_back).await;
        };
        if !planned.keys.is_complete() {
            let observed = &planned.snapshot.observed;
            let signing = observed.signing_keys(release, &planned.stored.record)?;
            planned.keys = self.keys.find(release).await?.or_signing(signing);
        }
        let is_shared = |object: &&Object| SHARED.contains(&object.stage);
        let shared = planned.desired.objects.iter().filter(is_shared).map(|object| object.reference.clone());
        let shared: Vec<Reference> = shared.collect();
        self.refresh(&mut planned.snapshot, &shared).await?;
        let configured = planned.plan.has(Stage::Configuration);
        planned.replan(release)?;
        if planned.plan.has(Stage::Configuration) == configured {
            return Ok(planned);
        }
        // Whether proxies see a change decides on the generation.
        self.plan_apply(release, found, allow_rolled_back).await
    }
}

impl Planned {
    /// Makes the record name everything that exists or is going to: what is not desired any more is pruned later.
    pub(super) fn own_all(&mut self) {
        let mut all = self.desired.owned();
        let is_desired = |reference: &Reference| all.iter().any(|(_, desired)| desired == reference);
        let (rest, _): (Vec<_>, Vec<_>) =
            self.stored.record.objects.iter().cloned().partition(|(_, reference)| !is_desired(reference));
        all.extend(rest);
        self.stored.record.objects = all;
    }

    /// The configurations that were observed, with all their releases.
    pub(crate) fn configurations(&self) -> Vec<&Value> {
        let objects = self.desired.objects.iter().filter(|object| object.stage == Stage::Configuration);
        objects.filter_map(|object| self.snapshot.observed.objects.get(&object.reference)).collect()
    }

    /// Whether the file names as stable what was the canary.
    pub(super) fn promotes(&self) -> bool {
        let canary = self.before.as_ref().and_then(|before| before.state.version_of(Role::Canary));
        canary.is_some() && canary == self.stored.record.state.version_of(Role::Stable)
    }

    /// Whether nothing has to be written.
    pub(super) fn is_nothing(&self) -> bool {
        self.plan.is_empty() && self.is_recorded() && self.keys.is_complete()
    }

    /// Whether its writes depend on what the proxies report: on that of the filter, of new subsets, of versions that leave, or on
    /// the report at the end that the caller asks for.
    pub(super) fn waits_for_proxies(&self, wait: bool) -> bool {
        wait || self.plan.brings_filter()
            || self.plan.has(Stage::Subsets)
            || !super::is_settled(&self.stored.record)
    }

    /// Whether the record on the cluster says what is desired.
    pub(super) fn is_recorded(&self) -> bool {
        self.stored.is_there() && self.before.as_ref() == Some(&self.stored.record)
    }

    /// Works out the desired state and the plan again, after the snapshot, the keys or the record have changed.
    pub(super) fn replan(&mut self, release: &Release) -> Result<(), Error> {
        let (record, observed) = (&self.stored.record, &self.snapshot.observed);
        self.desired = Desired::of(release, record, &self.keys.or_placeholder(), observed)?;
        let notes = std::mem::take(&mut self.plan.notes);
        self.plan = Plan { notes, ..self.desired.plan(release, record, observed)? };
        Ok(())
    }

    /// Gives the record its history, and another generation if proxies are to see a change.
    fn raise_generation(&mut self, release: &Release, by: Author<'_>) -> Result<(), Error> {
        let record = &mut self.stored.record;
        let Some(before) = &self.before else {
            record.append_history(by, assignment::Weight::ZERO, Operation::Apply);
            return Ok(());
        };
        // A filter that is inserted again gets a generation of its own: proxies report those of the one before it until their
        // listeners are drained.
        let configures = self.plan.has(Stage::Configuration) || self.plan.brings_filter();
        if record.state == before.state && !(self.desired.is_deployed && configures) {
            return Ok(());
        }
        record.state.generation += 1;
        record.append_history(by, before.state.weight, Operation::Apply);
        self.replan(release)
    }

    /// Which routes Istio tries first, where ours are beside those of others.
    fn route_order(&self, release: &Release) -> Result<Vec<String>, Error> {
        let (record, observed) = (&self.stored.record, &self.snapshot.observed);
        if matches!(record.routes, Routes::External | Routes::GatewayApi) {
            return Ok(Vec::new());
        }
        let targets = record.route_targets(&release.name.to_string());
        let mut found = observed.route_object_bodies();
        found.extend(self.snapshot.routes_elsewhere.iter().cloned());
        Ok(order(&targets, &self.desired.objects, &observed.objects, &found, &self.snapshot.servers)?)
    }

    /// The module that has to be rolled out before the rest is written.
    pub(super) fn module_rollout(&self, release: &str) -> Option<ModuleRollout> {
        let before = self.before.as_ref()?;
        let observed = &self.snapshot.observed.objects;
        // If an earlier call was interrupted before every proxy had the release, the module is written with the rest.
        let has_release = |reference: &Reference| {
            let config = observed.get(reference).map(deployed_config);
            config.and_then(Result::ok).flatten().is_some_and(|config| config.releases.contains_key(release))
        };
        if !before.config_objects().all(has_release) {
            return None;
        }
        ModuleRollout::of(&self.desired.objects, observed, before.module_rollout.as_ref())
    }

    /// The embedded modules of the observed objects and of the desired ones.
    pub(super) fn module_contents(&self) -> ModuleContents {
        let desired = self.desired.objects.iter().map(|object| &object.body);
        ModuleContents::of(self.snapshot.observed.objects.values().chain(desired))
    }
}

/// Decides who writes the routes if the file does not say it; the decision is recorded. Returns the reason, for a
/// message.
fn choose_routes(
    release: &Release,
    before: Option<&Record>,
    record: &mut Record,
    route_objects: &[Value],
) -> Result<Option<String>, Error> {
    match (release.routes, before) {
        (Some(_), _) => Ok(None),
        (None, Some(before)) => {
            record.routes = before.routes;
            Ok(None)
        }
        (None, None) => {
            let (routes, reason) =
                default_routes(&record.route_targets(&release.name.to_string()), route_objects)?;
            record.routes = routes;
            Ok(reason)
        }
    }
}

/// Routes beside `HTTPRoute`s have other objects and header values than all others: users would move between two writes.
fn check_same_routes(release: &Release, before: Option<&Record>) -> Result<(), Error> {
    let (Some(after), Some(before)) = (release.routes, before.map(|before| before.routes)) else {
        return Ok(());
    };
    if before == after || ![before, after].contains(&Routes::GatewayApi) {
        return Ok(());
    }
    Err(plan::Error::OtherRoutes { before: before.name(), after: after.name() }.into())
}

/// The live versions that drain until a later moment, and of the others those that have pods.
fn running(record: &Record, pods: &ServicePods) -> Vec<String> {
    let now = jiff::Timestamp::now();
    let versions = record.state.versions.iter().map(|version| &version.name);
    let is_running = |version: &&String| match record.draining.get(*version) {
        Some(deadline) => *deadline > now,
        None => pods.of_version(&record.service, version).all > 0,
    };
    versions.filter(is_running).cloned().collect()
}
