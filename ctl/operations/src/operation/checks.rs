//! Preflight checks before users are sent somewhere else: those of `plan`, with what they need from the cluster.

use crate::client::ServicePods;
use crate::observe::routes::{RouteObjects, service_ref};
use crate::operation::apply::Planned;
use crate::proxies::wait::filter_of;
use crate::{Cluster, Error};
use assignment::Weight;
use assignment::contract::{Position, Role};
use canary_release::config;
use canary_release::delivery::deployed_config;
use canary_release::format::none_ready;
use canary_release::object::Reference;
use canary_release::preflight::{
    Alternative, PreflightCheck, check_pause, check_service_port, check_step, check_stickiness, no_route,
};
use canary_release::record::{Record, ServiceRef};
use canary_release::spec::{Release, ReleaseName};
use canary_release::state::Undersized;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// The ready pods of both versions, where pods were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadyByRole {
    pub(crate) stable: usize,
    pub(crate) canary: usize,
}

impl ReadyByRole {
    /// The canary, if it has too few of them for all users.
    pub(crate) fn undersized(self, record: &Record) -> Option<Undersized> {
        let is_canary = |version: &str| record.state.version_of(Role::Canary) == Some(version);
        record.undersized(|version| if is_canary(version) { self.canary } else { self.stable }, now())
    }
}

impl Cluster {
    /// Judges a weight. Taking users off a canary is refused by a pause alone, and taking all of them off by nothing. The ready pods, where they were
    /// read.
    pub(crate) async fn check_weight_change(
        &self,
        release: &ReleaseName,
        record: &Record,
        to: Weight,
        skipped: &[PreflightCheck],
    ) -> Result<Option<ReadyByRole>, Error> {
        if to > Weight::ZERO {
            self.check_pause(record, skipped)?;
        }
        let from = record.state.weight_at(now());
        if to <= from {
            return Ok(None);
        }
        check_step(record.max_step, from, to, skipped)?;
        let filter = self.check_filter(record, skipped).await?;
        let ready = self.check_canary(release, record, skipped).await?;
        check_held(release, record, &filter, skipped)?;
        Ok(ready)
    }

    /// Refuses to send users to a canary where an object of the filter does not exist. The objects that do.
    pub(crate) async fn check_filter(
        &self,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<BTreeMap<Reference, Value>, Error> {
        let found = self.filter_objects(record).await?;
        if let Some(object) = filter_of(record).find(|object| !found.contains_key(*object)) {
            let message = format!("expected {object}, found no such object: no proxy decides");
            PreflightCheck::NoFilter.refuse(skipped, message, Alternative::RestoreFilter)?;
        }
        Ok(found)
    }

    /// Refuses an operation on a paused release unless it is the pauser's.
    ///
    /// # Errors
    ///
    /// If another user has paused the release, unless the check is skipped.
    pub fn check_pause(&self, record: &Record, skipped: &[PreflightCheck]) -> Result<(), Error> {
        Ok(check_pause(record, &self.user, skipped)?)
    }

    /// Refuses to send users to a canary without ready pods, or without a route. The ready pods, where they were read.
    pub(crate) async fn check_canary(
        &self,
        release: &ReleaseName,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<Option<ReadyByRole>, Error> {
        let Some(canary) = record.state.version_of(Role::Canary) else { return Ok(None) };
        let routes = self.version_routes(release, record).await?;
        let pods = self.check_pods(release, record, (canary, &routes), skipped).await?;
        Box::pin(self.check_default_route(release, record, skipped)).await?;
        if let Some((_, ports)) = &pods {
            self.check_route_ports(release, (record, canary), (&routes, ports), skipped).await?;
        }
        self.check_subsets(release, record, skipped).await?;
        let ready = pods.map(|(ready, _)| ready);
        if skipped.contains(&PreflightCheck::NoRoutes) {
            return Ok(ready);
        }
        let found = Box::pin(self.missing_version_route(release, (record, canary), &routes)).await?;
        let Some(faults) = found else { return Ok(ready) };
        let message = match self.missing_route(release, record).await? {
            Some(missing) => missing.to_string(),
            None => no_route(record.routes, canary, &faults),
        };
        PreflightCheck::NoRoutes.refuse(
            skipped,
            message,
            Alternative::AddRoutes { routes: record.routes },
        )?;
        Ok(ready)
    }

    /// Refuses to send users to a canary without a ready pod. The ready pods and the ports of the Service, where they were read.
    async fn check_pods(
        &self,
        release: &ReleaseName,
        record: &Record,
        (canary, routes): (&str, &RouteObjects),
        skipped: &[PreflightCheck],
    ) -> Result<Option<(ReadyByRole, Vec<u16>)>, Error> {
        if skipped.contains(&PreflightCheck::NoReadyPods) {
            return Ok(None);
        }
        let service = &service_ref(release, record, routes);
        let namespace = release.namespace.to_string();
        let pods = self.client.service_pods(&namespace, service).await?;
        if pods.ports.is_none() {
            return Err(Error::NoService { namespace, name: service.name.clone() });
        }
        check_ready(&pods, service, canary, skipped)?;
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        if let Some(target) = pods.missing_targets(service, canary, stable).first() {
            let message = target.missing(&service.name, canary);
            let alternative = Alternative::StartPods { version: canary.to_owned() };
            PreflightCheck::NoReadyPods.refuse(skipped, message, alternative)?;
        }
        let ready = |version| pods.of_version(service, version).ready;
        let ready = ReadyByRole { stable: ready(stable), canary: ready(canary) };
        Ok(Some((ready, pods.ports.unwrap_or_default())))
    }

    /// Checks an `apply` before its first write.
    pub(crate) fn check_apply(
        &self,
        release: &Release,
        planned: &Planned,
        pods: &ServicePods,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        let (before, after) = (planned.before.as_ref(), &planned.stored.record);
        let moves = |before: &&Record| {
            before.state.versions != after.state.versions
                || before.state.weight != after.state.weight
                || after.initial_weight.is_some()
        };
        if let Some(before) = before.filter(moves) {
            self.check_pause(before, skipped)?;
        }
        if after.state.version_of(Role::Canary).is_some() {
            let config = config::release_config(release, &after.state, Position::Edge);
            check_stickiness(&config, skipped)?;
        }
        if let Some(from) = before.and_then(|before| promoted_from(before, after)) {
            check_step(after.max_step, from, Weight::FULL, skipped)?;
        }
        if let Some(weight) = after.initial_weight {
            check_step(after.max_step, Weight::ZERO, weight, skipped)?;
        }
        if let Some(ports) = &pods.ports {
            check_service_port(&release.service, ports, skipped)?;
        }
        let stable = after.state.version_of(Role::Stable).unwrap_or_default();
        if pods.ports.is_none() && !skipped.contains(&PreflightCheck::NoReadyPods) {
            let (namespace, name) = (release.name.namespace.to_string(), after.service.name.clone());
            return Err(Error::NoService { namespace, name });
        }
        check_ready(pods, &after.service, stable, skipped)
    }
}

/// Checks the configuration of the gateways, which can differ from the file.
fn check_held(
    release: &ReleaseName,
    record: &Record,
    filter: &BTreeMap<Reference, Value>,
    skipped: &[PreflightCheck],
) -> Result<(), Error> {
    for body in record.config_objects().filter_map(|object| filter.get(object)) {
        let Some(config) = deployed_config(body).map_err(canary_release::plan::Error::from)? else {
            continue;
        };
        let entry = config.releases.get(&release.to_string());
        if let (Position::Edge, Some(entry)) = (config.position, entry) {
            check_stickiness(entry, skipped)?;
        }
    }
    Ok(())
}

/// The share that a file's new stable version had before, if the file changes it: a promotion by file is a step to 100 % too.
fn promoted_from(before: &Record, after: &Record) -> Option<Weight> {
    let stable = after.state.version_of(Role::Stable)?;
    if before.state.version_of(Role::Stable) == Some(stable) {
        return None;
    }
    let is_canary = before.state.version_of(Role::Canary) == Some(stable);
    Some(if is_canary { before.state.weight_at(now()) } else { Weight::ZERO })
}

pub(crate) fn check_ready(
    pods: &ServicePods,
    service: &ServiceRef,
    version: &str,
    skipped: &[PreflightCheck],
) -> Result<(), Error> {
    let found = pods.of_version(service, version);
    if found.ready > 0 {
        return Ok(());
    }
    let mut message =
        format!("version `{version}` has {} behind Service `{}`", none_ready(found.all), service.name);
    let mut alternative = Alternative::StartPods { version: version.to_owned() };
    if pods.lacks_port(service, version) {
        let names: Vec<String> = pods.target_names.iter().map(|name| format!("`{name}`")).collect();
        message = format!(
            "expected a container of version `{version}` with the port that Service `{}` names ({}), found none: no request reaches it",
            service.name,
            names.join(", ")
        );
    }
    if let Some(narrow) = pods.narrow_selector(service, version) {
        message = format!("version `{version}` gets no requests: {narrow}");
        alternative = Alternative::WidenSelector(narrow);
    }
    Ok(PreflightCheck::NoReadyPods.refuse(skipped, message, alternative)?)
}

/// Seconds since 1970-01-01 UTC.
pub(crate) fn now() -> u64 {
    u64::try_from(Timestamp::now().as_second()).unwrap_or_default()
}
