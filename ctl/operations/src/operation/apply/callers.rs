//! Calls of others that the routes of an `apply` do not cover, and those that would fail by them.

use super::Planned;
use crate::client::ServicePods;
use crate::observe::exposure::CHECKS;
use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::destination_rule::HostRule;
use canary_release::doctor::ClusterFinding;
use canary_release::object::{Object, Reference, Stage};
use canary_release::preflight::{
    Callers, CheckFailed, PreflightCheck, UnroutedCalls, check_calls, unrouted_calls,
};
use canary_release::routing::Coverage;
use canary_release::spec::Release;
use serde_json::Value;
use std::collections::BTreeMap;

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
        let is_rule = |object: &&Object| object.stage == Stage::Subsets && !record.service.per_version;
        let ours = planned.desired.objects.iter().find(is_rule);
        let ours = ours.map(|object| HostRule::of(&object.body)).transpose()?;
        // A waypoint takes what ambient pods send, and these are seen where pods have no sidecar.
        let namespace_labels = if pods.have_sidecars() {
            BTreeMap::new()
        } else {
            self.client.namespace_labels(namespace).await
        };
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let snapshot = &planned.snapshot;
        let (sidecars, service_entries) =
            tokio::try_join!(self.sidecars(namespace, record), self.service_entries(namespace))?;
        let callers = Callers {
            routes: record.routes,
            services: services.to_vec(),
            service_entries,
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
