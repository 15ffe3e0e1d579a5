//! Calls of others that the routes of an `apply` do not cover, and those that would fail by them.

use super::Planned;
use crate::client::ServicePods;
use crate::observe::exposure::CHECKS;
use crate::observe::routes::ServedHosts;
use crate::{Cluster, Error};
use assignment::contract::{KeySource, Role};
use canary_release::destination_rule::{HostRule, ROOT_NAMESPACE};
use canary_release::doctor::ClusterFinding;
use canary_release::object::{Object, Reference, Stage};
use canary_release::preflight::{
    Callers, CheckFailed, PreflightCheck, UnroutedCalls, check_calls, no_route, unrouted_calls,
    verifies_tokens,
};
use canary_release::record::Record;
use canary_release::routing::Coverage;
use canary_release::spec::{Release, Routes};
use futures_util::future::try_join_all;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The calls of others that `apply` and `doctor` report.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OtherCalls {
    /// The routes that bypass the release, if there is a canary.
    pub(crate) coverage: Coverage,
    /// The calls that no route covers.
    pub(crate) unrouted: Vec<UnroutedCalls>,
    /// Pods that no request reaches by our routes.
    pub(crate) unreached: Vec<ClusterFinding>,
}

/// Everything that an `apply` would refuse, and what it would say.
#[derive(Debug, Default)]
pub(crate) struct FailedChecks {
    pub(crate) failed: Vec<CheckFailed>,
    pub(crate) other: OtherCalls,
    /// The error with which it would fail besides.
    pub(crate) error: Option<Error>,
}

/// The checks about which `doctor` says more than that they fail.
const EXAMINED: [PreflightCheck; 3] =
    [PreflightCheck::NoReadyPods, PreflightCheck::NoServicePort, PreflightCheck::NoWasmRuntime];

impl Cluster {
    /// The calls that our routes do not cover. Refuses those that fail, or about which the release decides.
    pub(super) async fn check_unrouted(
        &self,
        release: &Release,
        planned: &Planned,
        (pods, services): (&ServicePods, &[Value]),
        skipped: &[PreflightCheck],
    ) -> Result<Vec<UnroutedCalls>, Error> {
        let checks = [PreflightCheck::HiddenSubsets, PreflightCheck::UnroutedCalls];
        if checks.iter().all(|check| skipped.contains(check)) {
            return Ok(Vec::new());
        }
        let calls = self.unrouted(release, planned, (pods, services)).await?;
        check_calls(release, planned.stored.record.routes, &calls, skipped)?;
        Ok(calls)
    }

    async fn unrouted(
        &self,
        release: &Release,
        planned: &Planned,
        (pods, services): (&ServicePods, &[Value]),
    ) -> Result<Vec<UnroutedCalls>, Error> {
        let (namespace, record) = (release.name.namespace.as_str(), &planned.stored.record);
        let ours = our_rule(planned)?;
        // A waypoint takes what ambient pods send, and these are seen where pods have no sidecar.
        let namespace_labels = if pods.have_sidecars() {
            BTreeMap::new()
        } else {
            self.client.namespace_labels(namespace).await
        };
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let snapshot = &planned.snapshot;
        let (sidecars, service_entries, workload_entries) = tokio::try_join!(
            self.sidecars(namespace, record),
            self.service_entries(namespace),
            self.workload_entries(namespace),
        )?;
        let callers = Callers {
            routes: record.routes,
            services: services.to_vec(),
            service_entries,
            workload_entries,
            pods: pods.contested(&record.service.label, stable),
            rules: snapshot.observed.rules.iter().chain(&snapshot.rules_elsewhere).cloned().collect(),
            ours,
            sidecars,
            namespace_labels,
        };
        let mut calls = unrouted_calls(release, &callers);
        // Callers of the plain Service get stable.
        let reaches_canary = |calls: &UnroutedCalls| {
            matches!(calls, UnroutedCalls::OtherService { .. } | UnroutedCalls::Waypoint { .. })
        };
        calls.retain(|calls| !record.service.per_version || reaches_canary(calls));
        Ok(calls)
    }

    /// The users of the release whom no route and no key reaches, though `apply` refuses nothing.
    pub(super) async fn unreached(
        &self,
        release: &Release,
        planned: &Planned,
    ) -> Result<Vec<ClusterFinding>, Error> {
        let (routes, tokens) = tokio::try_join!(
            self.unrouted_canary(release, planned),
            self.unverified_tokens(release, &planned.stored.record)
        )?;
        Ok(routes.into_iter().chain(tokens).collect())
    }

    /// The proxies at which nothing verifies tokens, if a claim is a user key.
    async fn unverified_tokens(
        &self,
        release: &Release,
        record: &Record,
    ) -> Result<Option<ClusterFinding>, Error> {
        if !release.identify_by.iter().any(|key| matches!(key, KeySource::Jwt { .. })) {
            return Ok(None);
        }
        let namespaces = record.proxies.iter().map(|proxies| proxies.namespace.as_str());
        let namespaces: BTreeSet<&str> = namespaces.chain([ROOT_NAMESPACE]).collect();
        let lists = namespaces
            .into_iter()
            .map(|namespace| self.client.list("security.istio.io/v1", "RequestAuthentication", namespace));
        let objects = match try_join_all(lists).await {
            // What may not be read may be there.
            Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => return Ok(None),
            listed => listed?.concat(),
        };
        let found = record.proxies.iter().find(|proxies| !verifies_tokens(&objects, proxies));
        Ok(found.map(|proxies| ClusterFinding::UnverifiedTokens { namespace: proxies.namespace.clone() }))
    }

    /// The faults of external routes that name the canary: no weight would be set.
    async fn unrouted_canary(
        &self,
        release: &Release,
        planned: &Planned,
    ) -> Result<Option<ClusterFinding>, Error> {
        let record = &planned.stored.record;
        let Some(canary) =
            record.state.version_of(Role::Canary).filter(|_| record.routes == Routes::External)
        else {
            return Ok(None);
        };
        let routes = self.version_routes(&release.name, record).await?;
        let (served, ours) = (ServedHosts::of(release), our_rule(planned)?);
        let found =
            self.missing_external_route(&release.name, (record, canary), &routes, (&served, ours)).await;
        match found {
            Ok(Some(faults)) if !faults.is_empty() => {
                let message = no_route(record.routes, canary, &faults);
                Ok(Some(ClusterFinding::UnroutedCanary { message }))
            }
            // Who may not read what routes are compared with gets there by a weight.
            Ok(_) | Err(Error::Forbidden { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Everything that an `apply` of this plan would refuse, and what it would say.
    ///
    /// # Errors
    ///
    /// If the calls of others cannot be observed.
    pub(crate) async fn failed_checks(
        &self,
        release: &Release,
        planned: &Planned,
    ) -> Result<FailedChecks, Error> {
        let record = &planned.stored.record;
        let (namespace, service) = (release.name.namespace.as_str(), &record.service);
        let pods = self.client.service_pods(namespace, service).await?;
        let services = self.services(namespace, &service.name).await?;
        let mut found = FailedChecks::default();
        found.other.unrouted = self.unrouted(release, planned, (&pods, &services)).await?;
        found.other.unreached = self.unreached(release, planned).await?;
        if record.state.version_of(Role::Canary).is_some() {
            let coming: Vec<Reference> =
                planned.desired.owned().into_iter().map(|(_, reference)| reference).collect();
            found.other.coverage = self.coverage(&release.name, record, &coming).await?;
        }
        let mut skipped = [&EXAMINED[..], &CHECKS].concat();
        loop {
            match self.check_planned(release, planned, &skipped).await {
                Err(Error::Preflight(failed)) if !skipped.contains(&failed.check) => {
                    skipped.push(failed.check);
                    found.failed.push(failed);
                }
                Ok(_) | Err(Error::Forbidden { .. }) => return Ok(found),
                Err(error) => {
                    found.error = Some(error);
                    return Ok(found);
                }
            }
        }
    }
}

/// Our rule with the subsets, as it would be.
fn our_rule(planned: &Planned) -> Result<Option<HostRule>, Error> {
    let per_version = planned.stored.record.service.per_version;
    let is_rule = |object: &&Object| object.stage == Stage::Subsets && !per_version;
    let ours = planned.desired.objects.iter().find(is_rule);
    Ok(ours.map(|object| HostRule::of(&object.body)).transpose()?)
}
