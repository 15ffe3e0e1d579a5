//! Whether the routes of a release exist: without them the routing header has no effect, and a session that the filter
//! assigns to the canary would get stable.

use crate::observe::rules::namespaces;
use crate::{Cluster, Error};
use canary_release::object::{Reference, Stage};
use canary_release::plan::{MissingObject, missing_objects};
use canary_release::preflight::{Alternative, PreflightCheck};
use canary_release::record::{OwnedObject, Record, ServiceRef};
use canary_release::routing::{
    ROUTE_KIND, WholeService, http_route_leads_by_header, http_route_ports, is_lost, leads_by_header,
    leads_to_subset, ports_by_header,
};
use canary_release::spec::{ReleaseName, Routes, ServiceHost, version_subset};
use serde_json::Value;

impl Cluster {
    /// Whether a route object leads to this version by its header: one of ours or, if the routes are external, any
    /// in the release's namespace.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses.
    pub async fn has_route(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
    ) -> Result<bool, Error> {
        let value = record.routing_value(&release.to_string(), version);
        let whole =
            WholeService { namespace: release.namespace.as_str(), name: record.service.name.as_str() };
        if record.routes != Routes::External {
            let is_its = |(stage, object): &&OwnedObject| {
                stage.is_route() && (!record.service.per_version || record.has_for(release, version, object))
            };
            let routes: Vec<_> = record.objects.iter().filter(is_its).collect();
            let observed = self.client.get_all(routes.iter().map(|(_, reference)| reference)).await?;
            let targets = record.route_targets(&release.to_string());
            let is_there = |(stage, reference): &&&OwnedObject| match (stage, observed.get(reference)) {
                (_, None) => false,
                (Stage::Edits, Some(body)) => !is_lost(body, &targets, version),
                (_, Some(body)) if record.service.per_version => {
                    http_route_leads_by_header(body, &value, whole)
                }
                (_, Some(body)) => leads_by_header(body, &value),
            };
            let has_any = !record.service.per_version || !routes.is_empty();
            return Ok(has_any && routes.iter().all(|kept| is_there(&kept)));
        }
        if self.pasted_routes(release, &value).await?.next().is_some() {
            return Ok(true);
        }
        let namespaces = namespaces(record, release.namespace.as_str());
        let http_routes = self.client.http_routes_everywhere(&namespaces).await?;
        Ok(http_routes.iter().any(|body| http_route_leads_by_header(body, &value, whole)))
    }

    /// The route objects of the release's namespace that lead to a version by this value of its header.
    async fn pasted_routes(
        &self,
        release: &ReleaseName,
        value: &str,
    ) -> Result<impl Iterator<Item = Value> + use<>, Error> {
        let theirs = self.client.list_istio(ROUTE_KIND, release.namespace.as_str()).await?;
        let value = value.to_owned();
        Ok(theirs.into_iter().filter(move |body| leads_by_header(body, &value)))
    }

    /// The Service of a release. Where `HTTPRoute`s of others lead to a version, it has a Service of its own, and that of the release selects
    /// stable alone.
    pub(crate) async fn service_ref(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<ServiceRef, Error> {
        let mut service = record.service.clone();
        if record.routes == Routes::External {
            let whole = WholeService { namespace: release.namespace.as_str(), name: service.name.as_str() };
            let values: Vec<String> = (record.state.versions.iter())
                .map(|version| record.routing_value(&release.to_string(), &version.name))
                .collect();
            let leads =
                |body: &Value| values.iter().any(|value| http_route_leads_by_header(body, value, whole));
            let namespaces = namespaces(record, release.namespace.as_str());
            let is_own = self.client.http_routes_everywhere(&namespaces).await?.iter().any(leads);
            service.per_version = is_own;
        }
        Ok(*service)
    }

    /// The route objects and the `HTTPRoute`s that lead to a version by its header: ours or, if the routes are external, those of others.
    async fn routes_to(
        &self,
        release: &ReleaseName,
        record: &Record,
        value: &str,
    ) -> Result<(Vec<Value>, Vec<Value>), Error> {
        if record.routes == Routes::External {
            let namespaces = namespaces(record, release.namespace.as_str());
            let pasted = self.pasted_routes(release, value).await?.collect();
            return Ok((pasted, self.client.http_routes_everywhere(&namespaces).await?));
        }
        let routes = record.objects.iter().filter(|(stage, _)| stage.is_route());
        let bodies = self.client.get_all(routes.map(|(_, reference)| reference)).await?;
        let (routes, http_routes): (Vec<_>, Vec<_>) =
            bodies.into_iter().partition(|(reference, _)| reference.kind == ROUTE_KIND);
        let bodies = |all: Vec<(Reference, Value)>| all.into_iter().map(|(_, body)| body).collect();
        Ok((bodies(routes), bodies(http_routes)))
    }

    /// Refuses routes to a version that name a port which the Service does not have: those users would get 503.
    pub(crate) async fn check_route_ports(
        &self,
        release: &ReleaseName,
        (record, version): (&Record, &str),
        ports: &[u16],
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if skipped.contains(&PreflightCheck::NoServicePort) {
            return Ok(());
        }
        let value = record.routing_value(&release.to_string(), version);
        let (routes, http_routes) = self.routes_to(release, record, &value).await?;
        for body in routes {
            let other = |port: &u64| !ports.iter().any(|known| u64::from(*known) == *port);
            if let Some(port) = ports_by_header(&body, &value).into_iter().find(other) {
                let (object, known) = (Reference::of(&body).map_err(Error::from)?, listed(ports));
                let message = format!(
                    "expected port {known} of Service `{}` in the routes of {object} to `{version}`, found {port}",
                    record.service.name
                );
                let alternative = Alternative::NameServicePort { ports: ports.to_vec() };
                PreflightCheck::NoServicePort.refuse(skipped, message, alternative)?;
            }
        }
        for body in http_routes {
            let object = Reference::of(&body)?;
            for (namespace, name, port) in http_route_ports(&body, &value) {
                let Some(ports) = self.ports_of(&namespace, &name).await? else { continue };
                if !ports.iter().any(|known| u64::from(*known) == port) {
                    let known = if ports.is_empty() { "none".to_owned() } else { listed(&ports) };
                    let message = format!(
                        "expected a port of Service `{name}` in the routes of {object} to `{version}`, found {port}; its ports: {known}"
                    );
                    let alternative = Alternative::NameServicePort { ports };
                    PreflightCheck::NoServicePort.refuse(skipped, message, alternative)?;
                }
            }
        }
        Ok(())
    }

    /// The ports of the Service of a version: none without one, `None` if it may not be read.
    async fn ports_of(&self, namespace: &str, name: &str) -> Result<Option<Vec<u16>>, Error> {
        match self.client.get(&Reference::new("v1", "Service", namespace, name)).await {
            Err(Error::Forbidden { .. }) => Ok(None),
            found => {
                let found = found?;
                let ports = found.iter().filter_map(|body| body.pointer("/spec/ports")?.as_array()).flatten();
                let number = |port: &Value| u16::try_from(port.get("port")?.as_u64()?).ok();
                Ok(Some(ports.filter_map(number).collect()))
            }
        }
    }

    /// The first object with routes of ours that does not exist.
    pub(crate) async fn missing_route(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<Option<MissingObject>, Error> {
        let observed = self.client.get_all(record.objects.iter().map(|(_, reference)| reference)).await?;
        let missing = missing_objects(&release.to_string(), record, &observed);
        Ok(missing.into_iter().find(|missing| missing.stage.is_route()))
    }

    /// The first route object of the release's namespace that is not ours and leads to the subset of a version.
    pub(crate) async fn names_subset(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
    ) -> Result<Option<String>, Error> {
        let namespace = release.namespace.as_str();
        let service = ServiceHost::new(&record.service.name, namespace);
        let theirs = self.client.list_istio(ROUTE_KIND, namespace).await?;
        let subset = version_subset(version);
        let found = theirs.iter().find(|body| leads_to_subset(body, namespace, &service, &subset));
        Ok(found.and_then(|body| body.pointer("/metadata/name")?.as_str().map(str::to_owned)))
    }
}

fn listed(ports: &[u16]) -> String {
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ")
}
