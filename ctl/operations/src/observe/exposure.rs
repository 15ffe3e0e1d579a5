//! Reads how users reach a release: its Gateways, their pods, and the routes of others where the routes are external.

use crate::client::pods::has_ended;
use crate::stores::first_record::first_record;
use crate::{Cluster, Error};
use canary_release::object::Reference;
use canary_release::plan::{Plan, PlanNote, default_routes};
use canary_release::preflight::{
    Exposure, GatewayObservation, OtherGateway, PodLabels, PreflightCheck, check_exposure, exposure_failures,
};
use canary_release::routing::{
    GATEWAY_API, GATEWAY_NAME_LABEL, GatewayServer, HostBinding, NamespaceLabels, ROUTE_KIND, gateways_for,
    http_route_bindings, is_ours,
};
use canary_release::spec::{Gateway, Release, Routes};
use futures_util::future::{join_all, try_join_all};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const ISTIO: &str = "networking.istio.io/v1";
/// The checks of what is read here.
pub(crate) const CHECKS: [PreflightCheck; 8] = [
    PreflightCheck::NoGateway,
    PreflightCheck::NoProxies,
    PreflightCheck::SelectorMismatch,
    PreflightCheck::HostNotServed,
    PreflightCheck::HostTaken,
    PreflightCheck::NoHttpServer,
    PreflightCheck::NoTls,
    PreflightCheck::PlaceholderModule,
];

impl Cluster {
    /// The ways on which users reach a release, as far as they exist.
    pub(crate) async fn exposure(
        &self,
        release: &Release,
        routes: Option<Routes>,
    ) -> Result<Exposure, Error> {
        let listed = self.listed_gateways(release).await;
        let gateways = release.gateways.iter().map(|gateway| self.observe_gateway(gateway, &listed));
        let gateways = try_join_all(gateways);
        let (gateways, route_objects) = tokio::try_join!(gateways, self.route_objects(release))?;
        let routes = routes.or(release.routes).or_else(|| written_by(release, &route_objects));
        // Where all routes are their owners', none of ours takes requests from them.
        let is_ours = matches!(routes, Some(Routes::Managed | Routes::Inject));
        let http_routes = if is_ours {
            self.client.gateway_api_routes(&namespaces(release), false).await?
        } else {
            Vec::new()
        };
        let mut exposure = Exposure { gateways, routes, route_objects, http_routes, ..Exposure::default() };
        exposure.other_gateways = self.other_gateways(release, &exposure, listed).await;
        let own = exposure.gateways.iter().filter_map(|observed| observed.object.as_ref());
        let gateways = own.chain(exposure.other_gateways.iter().map(|other| &other.object));
        exposure.namespaces = self.selected_namespaces(gateways, namespaces_of(&exposure.http_routes)).await;
        Ok(exposure)
    }

    /// The Gateways of Istio of all namespaces; without the right to list those, those that may be listed near the release. Also one without
    /// routes takes connections.
    async fn listed_gateways(&self, release: &Release) -> BTreeMap<Reference, Value> {
        let listed = self.client.list_istio_everywhere("Gateway", &namespaces(release)).await;
        let listed = listed.unwrap_or_default().into_iter();
        listed.filter_map(|object| Some((Reference::of(&object).ok()?, object))).collect()
    }

    /// The labels of these namespaces, where a listener of these Gateways selects by them; none without the right to read one.
    pub(crate) async fn selected_namespaces<'o>(
        &self,
        mut gateways: impl Iterator<Item = &'o Value>,
        names: BTreeSet<&str>,
    ) -> NamespaceLabels {
        let selects = |gateway: &Value| {
            let listeners =
                gateway.pointer("/spec/listeners").and_then(Value::as_array).into_iter().flatten();
            let mut from =
                listeners.filter_map(|one| one.pointer("/allowedRoutes/namespaces/from")?.as_str());
            from.any(|from| from == "Selector")
        };
        if !gateways.any(selects) {
            return NamespaceLabels::new();
        }
        let labels = names.into_iter().map(async |name| {
            let labels = self.client.namespace_labels(name).await.into_iter();
            (name.to_owned(), labels.map(|(name, value)| (name, Value::String(value))).collect::<Map<_, _>>())
        });
        let found: NamespaceLabels = join_all(labels).await.into_iter().collect();
        // Each namespace has a label of its name.
        if found.values().any(Map::is_empty) { NamespaceLabels::new() } else { found }
    }

    /// The Gateways of others to which routes for a host of the release are bound, and all others of Istio. Without the right to read one,
    /// there is none.
    async fn other_gateways(
        &self,
        release: &Release,
        exposure: &Exposure,
        listed: BTreeMap<Reference, Value>,
    ) -> Vec<OtherGateway> {
        let mut bindings: Vec<HostBinding> =
            exposure.route_objects.iter().filter_map(HostBinding::of).collect();
        // One for connections has no hosts.
        let has_hosts = |route: &&Value| route.get("kind").and_then(Value::as_str) != Some("TCPRoute");
        bindings.extend(exposure.http_routes.iter().filter(has_hosts).flat_map(http_route_bindings));
        let is_own = |gateway: &Reference| {
            gateway.api_version == ISTIO
                && release.gateways.iter().any(|own| own.name.to_string() == full_name(gateway))
        };
        let bound = gateways_for(&release.hosts, &bindings);
        let others = bound.into_iter().filter(|gateway| !is_own(gateway) && !listed.contains_key(gateway));
        let found = join_all(others.map(|gateway| self.other_gateway(gateway))).await;
        let listed = listed.into_iter().filter(|(gateway, _)| !is_own(gateway));
        let listed = listed.map(async |(gateway, object)| self.pods_of_gateway(&gateway, object).await);
        found.into_iter().chain(join_all(listed).await).flatten().collect()
    }

    /// A Gateway of others, once for each Service of its pods.
    async fn other_gateway(&self, gateway: Reference) -> Vec<OtherGateway> {
        match self.client.get(&gateway).await.ok().flatten() {
            Some(object) => self.pods_of_gateway(&gateway, object).await,
            None => Vec::new(),
        }
    }

    /// A Gateway, once for each Service of its pods.
    pub(crate) async fn pods_of_gateway(&self, gateway: &Reference, object: Value) -> Vec<OtherGateway> {
        let name = full_name(gateway);
        if gateway.api_version == ISTIO {
            let selector = selector(&object);
            return vec![OtherGateway { name, object, namespace: None, selector }];
        }
        let own = gateway.namespace.as_str();
        let address = |one: &Value| {
            let text = |field: &str| one.get(field).and_then(Value::as_str);
            let host = text("value").filter(|_| text("type") == Some("Hostname"))?;
            let mut labels = host.split('.');
            let service = labels.next()?.to_owned();
            // istiod knows Services of the Gateway's namespace alone.
            labels.next().is_none_or(|namespace| namespace == own).then_some(service)
        };
        let addresses = object.pointer("/spec/addresses").and_then(Value::as_array).into_iter().flatten();
        let addresses: Vec<&Value> = addresses.collect();
        let services = addresses.iter().filter_map(|one| address(one));
        let services = services.map(async |name| self.client.service_selector(own, &name).await.ok());
        let mut selectors: Vec<PodLabels> = join_all(services).await.into_iter().flatten().collect();
        if addresses.is_empty() {
            selectors.push(PodLabels::from([(GATEWAY_NAME_LABEL.to_owned(), gateway.name.clone())]));
        }
        let at = |selector| OtherGateway {
            name: name.clone(),
            object: object.clone(),
            namespace: Some(own.to_owned()),
            selector,
        };
        selectors.into_iter().map(at).collect()
    }

    /// The route objects of all namespaces or, without the right to list them, of the release's and its gateways'.
    async fn route_objects(&self, release: &Release) -> Result<Vec<Value>, Error> {
        self.client.list_istio_everywhere(ROUTE_KIND, &namespaces(release)).await
    }

    /// Refuses a release that users cannot reach as its file says. The routes of others, where all that bypasses can be among them were
    /// read.
    pub(crate) async fn check_exposure(
        &self,
        release: &Release,
        routes: Routes,
        skipped: &[PreflightCheck],
    ) -> Result<Option<Vec<Value>>, Error> {
        if CHECKS.iter().all(|check| skipped.contains(check)) {
            return Ok(None);
        }
        let exposure = self.exposure(release, Some(routes)).await?;
        check_exposure(release, &exposure, skipped)?;
        let is_whole = matches!(routes, Routes::Managed | Routes::Inject) && release.sidecars.is_empty();
        Ok(is_whole.then(|| [exposure.route_objects, exposure.http_routes].concat()))
    }

    /// The failures of [`check_exposure`](Self::check_exposure), as notes on a plan that is only printed.
    pub(crate) async fn exposure_notes(
        &self,
        release: &Release,
        routes: Routes,
        plan: &Plan,
    ) -> Result<Vec<PlanNote>, Error> {
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        let exposure = self.exposure(release, Some(routes)).await?;
        Ok(exposure_failures(release, &exposure).into_iter().map(PlanNote::CheckFails).collect())
    }

    /// The servers of the Gateways of a release, if a route object of others is bound to one of them for a host of the release; none
    /// without the right to read them.
    pub(crate) async fn contested_servers(
        &self,
        release: &Release,
        route_objects: &[Value],
    ) -> Vec<GatewayServer> {
        let others = route_objects.iter().filter(|body| !is_ours(body)).filter_map(HostBinding::of);
        let bound = gateways_for(&release.hosts, &others.collect::<Vec<_>>());
        let of = async |gateway: &Gateway| {
            let name = &gateway.name;
            let reference = Reference::new(ISTIO, "Gateway", name.namespace.as_str(), name.name.as_str());
            if !bound.contains(&reference) {
                return Vec::new();
            }
            let object = self.client.get(&reference).await.ok().flatten();
            GatewayServer::of_istio(&name.to_string(), &gateway.pods, object.as_ref())
        };
        join_all(release.gateways.iter().map(of)).await.into_iter().flatten().collect()
    }

    async fn observe_gateway(
        &self,
        gateway: &Gateway,
        listed: &BTreeMap<Reference, Value>,
    ) -> Result<GatewayObservation, Error> {
        let (namespace, name) = (gateway.name.namespace.as_str(), gateway.name.name.as_str());
        let reference = Reference::new(ISTIO, "Gateway", namespace, name);
        let mut object = match listed.get(&reference) {
            Some(found) => Some(found.clone()),
            None => self.client.get(&reference).await?,
        };
        let mut is_gateway_api = false;
        if object.is_none() {
            // Without the right to read it, it is none.
            let other = self.client.get(&Reference::new(GATEWAY_API, "Gateway", namespace, name)).await;
            object = other.ok().flatten();
            is_gateway_api = object.is_some();
        }
        let pods_in = gateway.pods.namespace.as_str();
        let mut found = self.labels_of(pods_in, &gateway.pods.labels).await?;
        let theirs = object.as_ref().map(selector).filter(|theirs| *theirs != gateway.pods.labels);
        if let Some(theirs) = theirs.filter(|_| !is_gateway_api) {
            found.extend(self.labels_of(pods_in, &theirs).await?);
        }
        let pods = found.into_values().collect();
        Ok(GatewayObservation { gateway: gateway.clone(), object, is_gateway_api, pods })
    }

    /// The labels of the pods that a selector fits and that have not ended, by name.
    async fn labels_of(
        &self,
        namespace: &str,
        selector: &PodLabels,
    ) -> Result<BTreeMap<String, PodLabels>, Error> {
        let pods = self.client.pods(namespace, selector).await?.into_iter().filter(|pod| !has_ended(pod));
        Ok(pods
            .filter_map(|pod| Some((pod.metadata.name?, pod.metadata.labels.unwrap_or_default())))
            .collect())
    }
}

/// The namespaces of objects.
pub(crate) fn namespaces_of(objects: &[Value]) -> BTreeSet<&str> {
    objects.iter().filter_map(|object| object.pointer("/metadata/namespace")?.as_str()).collect()
}

fn full_name(object: &Reference) -> String {
    format!("{}/{}", object.namespace, object.name)
}

/// The namespaces of a release and of its gateways' pods.
fn namespaces(release: &Release) -> BTreeSet<String> {
    let gateways = release.gateways.iter().map(|gateway| gateway.pods.namespace.to_string());
    gateways.chain([release.name.namespace.to_string()]).collect()
}

/// The writer of the routes of a release that is not deployed, if its file does not name one.
fn written_by(release: &Release, route_objects: &[Value]) -> Option<Routes> {
    let namespace = release.name.namespace.as_str();
    let is_near =
        |body: &&Value| body.pointer("/metadata/namespace").and_then(Value::as_str) == Some(namespace);
    let near: Vec<Value> = route_objects.iter().filter(is_near).cloned().collect();
    let targets = first_record(release).route_targets(&release.name.to_string());
    default_routes(&targets, &near).ok().map(|(routes, _)| routes)
}

/// The pods that a Gateway selects, by their labels.
fn selector(gateway: &Value) -> PodLabels {
    let labels = gateway.pointer("/spec/selector").and_then(Value::as_object).into_iter().flatten();
    labels.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}
