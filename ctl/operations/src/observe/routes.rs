//! Whether the routes of a release exist: without them the routing header has no effect, and a session that the filter
//! assigns to the canary would get stable.

use crate::observe::rules::namespaces;
use crate::{Cluster, Error};
use assignment::contract::{FilterConfig, Position};
use canary_release::destination_rule::HostRule;
use canary_release::object::{Reference, Stage};
use canary_release::plan::{MissingObject, missing_objects};
use canary_release::preflight::{
    Alternative, PodLabels, PreflightCheck, RouteFault, RoutedVersion, names_header,
};
use canary_release::record::{OwnedObject, Record, ServiceRef};
use canary_release::routing::{
    HostBinding, MESH, ROUTE_KIND, WholeService, bound_name, gateways_for, http_route_bindings,
    http_route_leads_by_header, http_route_ports, is_lost, is_of_unknown_kind, leads_by_header,
    leads_to_subset, ports_by_header,
};
use canary_release::spec::{Release, ReleaseName, Routes, ServiceHost, version_subset};
use futures_util::future::try_join_all;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The objects that may lead to a version by its header.
pub(crate) type RouteObjects = BTreeMap<Reference, Value>;

/// Whether each of our route objects leads to this version by its header.
fn has_own_route(release: &ReleaseName, record: &Record, version: &str, routes: &RouteObjects) -> bool {
    let value = record.routing_value(&release.to_string(), version);
    let whole = whole_service(release, record);
    let is_its = |(stage, object): &&OwnedObject| {
        stage.is_route() && (!record.service.per_version || record.has_for(release, version, object))
    };
    let mut its = record.objects.iter().filter(is_its).peekable();
    let targets = record.route_targets(&release.to_string());
    let is_there = |(stage, reference): &OwnedObject| match (stage, routes.get(reference)) {
        (_, None) => false,
        (Stage::Edits, Some(body)) => !is_lost(body, &targets, version),
        (_, Some(body)) if record.service.per_version => http_route_leads_by_header(body, &value, whole),
        (_, Some(body)) => leads_by_header(body, &value),
    };
    let has_any = !record.service.per_version || its.peek().is_some();
    has_any && its.all(is_there)
}

/// The Service of a release. Where routes of the Gateway API of others lead to a version, it has a Service of its own, and that of the release selects
/// stable alone.
pub(crate) fn service_ref(release: &ReleaseName, record: &Record, routes: &RouteObjects) -> ServiceRef {
    let mut service = (*record.service).clone();
    if record.routes == Routes::External {
        let whole = whole_service(release, record);
        service.per_version = record.state.versions.iter().any(|version| {
            let value = record.routing_value(&release.to_string(), &version.name);
            routes.values().any(|body| http_route_leads_by_header(body, &value, whole))
        });
    }
    service
}

fn whole_service<'a>(release: &'a ReleaseName, record: &'a Record) -> WholeService<'a> {
    WholeService { namespace: release.namespace.as_str(), name: record.service.name.as_str() }
}

/// The hosts of a release, and whether sidecars serve it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServedHosts {
    pub(crate) hosts: Vec<String>,
    pub(crate) is_inside: bool,
}

impl ServedHosts {
    /// Those of a file.
    pub(crate) fn of(release: &Release) -> Self {
        Self { hosts: release.hosts.clone(), is_inside: !release.sidecars.is_empty() }
    }
}

impl Cluster {
    /// The route objects of a release, as far as they exist: ours or, if the routes are external, those of others.
    pub(crate) async fn version_routes(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<RouteObjects, Error> {
        if record.routes != Routes::External {
            let routes = record.objects.iter().filter(|(stage, _)| stage.is_route());
            return self.client.get_all(routes.map(|(_, reference)| reference)).await;
        }
        let namespace = release.namespace.as_str();
        let namespaces = namespaces(record, namespace);
        let theirs = self.client.list_istio_everywhere(ROUTE_KIND, &namespaces);
        let (theirs, (header_routes, _)) =
            tokio::try_join!(theirs, self.client.header_routes_everywhere(&namespaces))?;
        let all = theirs.into_iter().chain(header_routes);
        all.map(|body| Ok((Reference::of(&body)?, body))).collect()
    }

    /// The faults of the routes to this version; `None` if each of ours leads there or, if the routes are external, one of others for the
    /// hosts and gateways of the release.
    pub(crate) async fn missing_version_route(
        &self,
        release: &ReleaseName,
        (record, version): (&Record, &str),
        routes: &RouteObjects,
    ) -> Result<Option<Vec<RouteFault>>, Error> {
        if record.routes != Routes::External {
            return Ok((!has_own_route(release, record, version, routes)).then(Vec::new));
        }
        let configs = self.deployed_configs(release, record).await?;
        let config =
            |config: &FilterConfig| config.releases.get(&release.to_string()).map(|one| one.hosts.clone());
        let served = ServedHosts {
            hosts: configs.iter().filter_map(config).flatten().collect(),
            is_inside: configs.iter().any(|config| config.position == Position::Mesh),
        };
        self.missing_external_route(release, (record, version), routes, (&served, None)).await
    }

    /// The same for external routes, where the release has these hosts; `ours` is our rule as it will be.
    pub(crate) async fn missing_external_route(
        &self,
        release: &ReleaseName,
        (record, version): (&Record, &str),
        routes: &RouteObjects,
        (served, ours): (&ServedHosts, Option<HostRule>),
    ) -> Result<Option<Vec<RouteFault>>, Error> {
        let value = record.routing_value(&release.to_string(), version);
        let objects: Vec<Value> = routes.values().cloned().collect();
        if !objects.iter().any(|body| names_header(body, &value)) {
            return Ok(Some(Vec::new()));
        }
        let namespace = release.namespace.as_str();
        let every = BTreeMap::new();
        let (services, pods, rules) = tokio::try_join!(
            self.services(namespace, &record.service.name),
            self.client.pods(namespace, &every),
            self.rules(namespace, record),
        )?;
        let rules = rules.bodies.iter().map(HostRule::of).collect::<Result<Vec<_>, _>>();
        let mut rules = rules.map_err(canary_release::plan::Error::from)?;
        if let Some(ours) = ours {
            rules.retain(|rule| rule.reference != ours.reference);
            rules.push(ours);
        }
        let clients = self.clients(record, &rules).await?;
        let pods: Vec<PodLabels> = pods.into_iter().filter_map(|pod| pod.metadata.labels).collect();
        let gateways = self.served_gateways(record, served, &objects).await?;
        let grants = self.client.grants(namespace, objects.iter()).await?;
        let faults = RoutedVersion {
            hosts: &served.hosts,
            gateways: &gateways,
            service: (namespace, &record.service.name),
            label: (&record.service.label, version),
            value: &value,
            services: &services,
            pods: &pods,
            grants: grants.as_deref(),
            rules: &rules,
            clients: &clients,
        }
        .faults(&objects);
        Ok((!faults.is_empty()).then_some(faults))
    }

    /// The gateways of these route objects whose pods are proxies of the release, and those that may not be read.
    async fn served_gateways(
        &self,
        record: &Record,
        served: &ServedHosts,
        objects: &[Value],
    ) -> Result<BTreeSet<String>, Error> {
        let mut bindings: Vec<HostBinding> = objects.iter().filter_map(HostBinding::of).collect();
        bindings.extend(objects.iter().flat_map(http_route_bindings));
        let named = gateways_for(&["*".to_owned()], &bindings);
        let pods = try_join_all(record.proxies.iter().map(async |proxies| {
            let found = self.client.pods(&proxies.namespace, &proxies.labels).await?;
            let labels = found.into_iter().filter_map(|pod| pod.metadata.labels);
            let labels = labels.chain([proxies.labels.clone()]).collect::<Vec<_>>();
            Ok::<_, Error>((proxies.namespace.as_str(), labels))
        }))
        .await?;
        let name = async |gateway: &Reference| {
            let is_served = match self.client.get(gateway).await {
                Err(Error::Forbidden { .. }) => true,
                found => {
                    let found = found?.map(async |object| self.pods_of_gateway(gateway, object).await);
                    let others = match found {
                        Some(found) => found.await,
                        None => Vec::new(),
                    };
                    others
                        .iter()
                        .any(|other| pods.iter().any(|(namespace, pods)| other.selects(namespace, pods)))
                }
            };
            Ok::<_, Error>(is_served.then(|| bound_name(gateway)))
        };
        let found = try_join_all(named.iter().map(name)).await?;
        let bound = bindings.into_iter().flat_map(|binding| binding.gateways);
        let unknown =
            bound.filter(|bound| is_of_unknown_kind(bound)).chain(served.is_inside.then(|| MESH.to_owned()));
        Ok(found.into_iter().flatten().chain(unknown).collect())
    }

    /// Refuses routes to a version that name a port which the Service does not have: those users would get 503.
    pub(crate) async fn check_route_ports(
        &self,
        release: &ReleaseName,
        (record, version): (&Record, &str),
        (routes, ports): (&RouteObjects, &[u16]),
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if skipped.contains(&PreflightCheck::NoServicePort) {
            return Ok(());
        }
        let value = record.routing_value(&release.to_string(), version);
        for (object, body) in routes {
            let other = |port: &u64| !ports.iter().any(|known| u64::from(*known) == *port);
            if let Some(port) = ports_by_header(body, &value).into_iter().find(other) {
                let known = listed(ports);
                let message = format!(
                    "expected port {known} of Service `{}` in the routes of {object} to `{version}`, found {port}",
                    record.service.name
                );
                let alternative = Alternative::NameServicePort { ports: ports.to_vec() };
                PreflightCheck::NoServicePort.refuse(skipped, message, alternative)?;
            }
            for (namespace, name, port) in http_route_ports(body, &value) {
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
