//! What is observed of a release for its status: record, pods, objects, routes and proxies.

use crate::client::ServicePods;
use crate::observe::routes::{RouteObjects, service_ref};
use crate::{Cluster, Error, StoredRecord};
use assignment::contract::{Position, Role, Stickiness};
use canary_release::delivery::ModuleSource;
use canary_release::object::{Reference, Stage};
use canary_release::plan::{self, ChangeReason, missing_objects};
use canary_release::preflight::{Alternative, CheckFailed, PreflightCheck, RouteFault};
use canary_release::rbac::Right;
use canary_release::record::Record;
use canary_release::resource::object_of;
use canary_release::routing::{Coverage, is_lost};
use canary_release::spec::{ReleaseName, Routes};
use canary_release::status::{
    ControllerStatus, ObjectStatus, Observation, ProxyStatus, SessionCookie, TemplateDrift,
    UnfinishedDeployment, Workloads, lost_subsets,
};
use serde_json::Value;
use std::collections::BTreeMap;

impl Cluster {
    /// The status of the object of a release that a controller carries out; `None` for another release.
    pub async fn controller_status(&self, name: &ReleaseName, record: &Record) -> Option<ControllerStatus> {
        if !record.is_carried_out() {
            return None;
        }
        // The record says enough to who may not read the object.
        let found = self.client.get(&object_of(name)).await.ok().flatten();
        let status = found.and_then(|object| serde_json::from_value(object.get("status")?.clone()).ok());
        Some(status.unwrap_or_default())
    }

    /// Observes a release, without its traffic: that takes two observations of [`traffic`](Self::traffic). Reads only.
    ///
    /// # Errors
    ///
    /// Where the API server refuses a read or does not respond. What is missing on the cluster is part of the observation.
    pub async fn observe_status(
        &self,
        name: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<Observation, Error> {
        let record = &stored.record;
        let observed = self.client.get_all(record.objects.iter().map(|(_, reference)| reference)).await?;
        let of_others = match record.routes {
            Routes::External => Some(self.version_routes(name, record).await?),
            _ => None,
        };
        let routes = of_others.as_ref().unwrap_or(&observed);
        let service = service_ref(name, record, routes);
        let pods = self.client.service_pods(name.namespace.as_str(), &service).await?;
        let ready = |name: &str| pods.of_version(&record.service, name);
        let ready: Vec<_> = record.state.versions.iter().map(|version| ready(&version.name)).collect();
        let workloads = self.workloads(name.namespace.as_str(), &record.service.label, &pods).await?;
        let template_drift = TemplateDrift::all(record, &ready, &workloads);
        let beside_stable = pods.ready_beside_stable(record);
        let canary = record.state.version_of(Role::Canary);
        let narrow = canary.and_then(|canary| pods.narrow_selector(&record.service, canary));
        let objects = self.object_status(name, record, &observed).await?;
        let default_route = Box::pin(self.default_route(name, record)).await?;
        let failing = Box::pin(self.failing(name, record, (&pods, routes))).await?;
        let (is_routed, route_faults) = Box::pin(self.canary_routes(name, record, routes)).await?;
        let mut coverage = Coverage::default();
        if record.state.versions.len() > 1 || !beside_stable.is_empty() {
            coverage = self.coverage(name, record, &[]).await?;
        }
        let (proxies, missing_right) = self.readable_proxies(name, record).await?;
        let (counts_sessions, session_cookie) = self.session_settings(name, stored).await?;
        let remote_clusters = self.remote_clusters().await?;
        let record = record.clone();
        Ok(Observation {
            record,
            trust: stored.trust().clone(),
            ready,
            proxies,
            missing_right,
            objects,
            is_routed,
            route_faults,
            coverage,
            beside_stable,
            narrow,
            default_route,
            failing,
            template_drift,
            remote_clusters,
            counts_sessions,
            session_cookie,
            traffic: None,
        })
    }

    /// Whether a route leads to the canary, if there is one; and the faults of external ones that name it.
    async fn canary_routes(
        &self,
        name: &ReleaseName,
        record: &Record,
        routes: &RouteObjects,
    ) -> Result<(Option<bool>, Vec<RouteFault>), Error> {
        let Some(canary) = record.state.version_of(Role::Canary) else { return Ok((None, Vec::new())) };
        match self.missing_version_route(name, (record, canary), routes).await {
            // Who may not read rules or pods has the rest of the status.
            Ok(None) | Err(Error::Forbidden { .. }) => Ok((Some(true), Vec::new())),
            Ok(Some(faults)) => Ok((Some(false), faults)),
            Err(error) => Err(error),
        }
    }

    /// The proxies of a release; none, and the missing right, where they may not be asked.
    async fn readable_proxies(
        &self,
        name: &ReleaseName,
        record: &Record,
    ) -> Result<(Vec<ProxyStatus>, Option<Right>), Error> {
        match self.proxies(&name.to_string(), record).await {
            Ok(proxies) => Ok((proxies, None)),
            Err(error) => Ok((Vec::new(), Some(error.missing_right_about_proxies()?))),
        }
    }

    /// The checks of routes and subsets that fail now.
    async fn failing(
        &self,
        name: &ReleaseName,
        record: &Record,
        (pods, routes): (&ServicePods, &RouteObjects),
    ) -> Result<Vec<CheckFailed>, Error> {
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let version = record.state.version_of(Role::Canary).unwrap_or(stable);
        let ports = pods.ports.as_deref().unwrap_or_default();
        let checked = [
            self.check_route_ports(name, (record, version), (routes, ports), &[]).await,
            self.check_subsets(name, record, &[]).await,
        ];
        let missing =
            pods.missing_targets(&record.service, version, stable).into_iter().map(|target| CheckFailed {
                check: PreflightCheck::NoReadyPods,
                message: target.missing(&record.service.name, version),
                alternative: Alternative::StartPods { version: version.to_owned() },
            });
        let mut failing: Vec<CheckFailed> = missing.collect();
        for checked in checked {
            match checked {
                Err(Error::Preflight(failed)) => failing.push(failed),
                // Who may not read routes or rules has the rest of the status.
                Ok(()) | Err(Error::Forbidden { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(failing)
    }

    /// The Deployments of versions that are not live any more and that were deployed beside stable. None where Deployments may not be listed.
    ///
    /// # Errors
    ///
    /// Where the API server refuses another read or does not respond.
    pub async fn unfinished_deployments(
        &self,
        name: &ReleaseName,
        record: &Record,
    ) -> Result<Vec<UnfinishedDeployment>, Error> {
        let pods = self.client.service_pods(name.namespace.as_str(), &record.service).await?;
        let workloads = self.workloads(name.namespace.as_str(), &record.service.label, &pods).await?;
        Ok(UnfinishedDeployment::all(record, &workloads))
    }

    /// The workloads behind a Service, for their drift. None where Deployments or `ReplicaSets` may not be listed: everything else can
    /// be said without them.
    async fn workloads(&self, namespace: &str, label: &str, pods: &ServicePods) -> Result<Workloads, Error> {
        let selector =
            pods.selector.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let mut workloads = Workloads { selector, ..Workloads::default() };
        if pods.selector.is_empty() {
            return Ok(workloads);
        }
        match self.client.list("apps/v1", "Deployment", namespace).await {
            Ok(deployments) => workloads.deployments = deployments,
            Err(Error::Forbidden { .. }) => return Ok(workloads),
            Err(error) => return Err(error),
        }
        if workloads.needs_replica_sets(label) {
            match self.client.list_selected("apps/v1", "ReplicaSet", namespace, &pods.selector).await {
                Ok(replica_sets) => workloads.replica_sets = replica_sets,
                Err(Error::Forbidden { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(workloads)
    }

    /// Whether a decision by weight is one of a new session, and the cookie by which sessions are known.
    pub(crate) async fn session_settings(
        &self,
        name: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(bool, Option<SessionCookie>), Error> {
        let held = self.deployed_configs(name, &stored.record).await?;
        let is_inside = held.iter().any(|config| config.position == Position::Mesh);
        let edge = held.iter().find(|config| config.position == Position::Edge).or_else(|| held.first());
        let Some(entry) = edge.and_then(|config| config.releases.get(&name.to_string())) else {
            return Ok((false, None));
        };
        let counts_sessions = entry.stickiness == Stickiness::Session && !is_inside;
        let adopted_until_seconds = entry.adopt.as_ref().map_or(0, |_| entry.adopt_until_seconds);
        let cookie = |name: &String| SessionCookie { name: name.clone(), adopted_until_seconds };
        Ok((counts_sessions, entry.session_cookie.as_ref().map(cookie)))
    }

    /// The modules that the configuration objects of a release name.
    ///
    /// # Errors
    ///
    /// Where the API server refuses the read or does not respond. An object that does not exist is left out.
    pub async fn modules(&self, record: &Record) -> Result<BTreeMap<Reference, ModuleSource>, Error> {
        let observed = self.client.get_all(record.objects.iter().map(|(_, reference)| reference)).await?;
        let module = |(object, body): (Reference, Value)| Some((object, ModuleSource::of(&body)?));
        Ok(observed.into_iter().filter_map(module).collect())
    }

    async fn object_status(
        &self,
        name: &ReleaseName,
        record: &Record,
        observed: &BTreeMap<Reference, Value>,
    ) -> Result<ObjectStatus, Error> {
        let mut modules = observed.values().filter_map(ModuleSource::of);
        let mut status = ObjectStatus {
            embedded_module: modules.find_map(|module| module.embedded()),
            lost_subsets: lost_subsets(record, observed),
            ..ObjectStatus::default()
        };
        for missing in missing_objects(&name.to_string(), record, observed) {
            match missing.stage {
                Stage::Configuration | Stage::Filter => status.missing.push(missing.object),
                _ => status.missing_others.push(missing),
            }
        }
        let plan = match Self::unfinished_of(name, record, observed) {
            Ok(plan) => plan,
            // Listed already. A missing configuration is said once where other objects are missing, too.
            Err(Error::Plan(plan::Error::MissingObject(_))) => return Ok(status),
            Err(Error::Plan(plan::Error::NotCarried { .. })) if !status.missing.is_empty() => {
                return Ok(status);
            }
            Err(Error::Plan(error @ plan::Error::NotCarried { .. })) => {
                return Ok(ObjectStatus { not_deployed: Some(error), ..status });
            }
            Err(Error::Plan(error @ (plan::Error::NotOurs { .. } | plan::Error::Uneditable { .. }))) => {
                return Ok(ObjectStatus { not_repairable: Some(error), ..status });
            }
            Err(error) => return Err(error),
        };
        Box::pin(self.add_outdated(name, record, observed, &mut status)).await?;
        for change in plan.changes {
            let object = change.object.to_string();
            match change.why {
                ChangeReason::Repair { by } if change.stage == Stage::Edits => {
                    let has_all =
                        observed.get(&change.object).is_some_and(|seen| has_all_routes(name, record, seen));
                    let routes = if has_all { &mut status.outdated_routes } else { &mut status.lost_routes };
                    routes.push((object, by));
                }
                ChangeReason::Repair { by } => status.changed.push((object, by)),
                _ => status.behind.push(object),
            }
        }
        Ok(status)
    }

    /// Adds the objects of ours that no longer follow from those of others, or the reason that they cannot.
    async fn add_outdated(
        &self,
        name: &ReleaseName,
        record: &Record,
        observed: &BTreeMap<Reference, Value>,
        status: &mut ObjectStatus,
    ) -> Result<(), Error> {
        match self.outdated(name, record, observed).await {
            Ok(outdated) => {
                let outdated = outdated.into_iter().map(|(object, by)| (object.to_string(), by));
                status.outdated_routes.extend(outdated);
            }
            Err(Error::Plan(error)) => status.not_repairable = Some(error),
            // Who may not read what ours follows from does without.
            Err(Error::Forbidden { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Whether an object of another owner has our routes to every version.
fn has_all_routes(name: &ReleaseName, record: &Record, seen: &Value) -> bool {
    let targets = record.route_targets(&name.to_string());
    record.state.versions.iter().all(|version| !is_lost(seen, &targets, &version.name))
}
