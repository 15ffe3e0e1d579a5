//! Reads the objects that routes of our own beside routes of others follow from: the Service, the routes, their Gateways, and what admits them.

use crate::observe::exposure::namespaces_of;
use crate::observe::rules::namespaces;
use crate::{Cluster, Error};
use canary_release::object::{NamespacedName, Reference};
use canary_release::plan::{GatewayApiObjects, Observed, Outdated};
use canary_release::preflight::DefaultRoute;
use canary_release::record::Record;
use canary_release::routing::GATEWAY_API;
use canary_release::spec::{ReleaseName, Routes, ServiceHost};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl Cluster {
    /// The objects that routes beside those of others follow from, and whether routes of other namespaces may not be listed. `gateways` are
    /// those of the release.
    pub(crate) async fn gateway_api_objects(
        &self,
        release: &ReleaseName,
        record: &Record,
        gateways: BTreeSet<NamespacedName>,
    ) -> Result<(GatewayApiObjects, bool), Error> {
        let namespace = release.namespace.as_str();
        let service = Reference::new("v1", "Service", namespace, &record.service.name);
        let gateways: Vec<Reference> = gateways
            .iter()
            .map(|(namespace, name)| Reference::new(GATEWAY_API, "Gateway", namespace, name))
            .collect();
        let (service, gateways) =
            tokio::try_join!(self.client.get(&service), self.client.get_all(&gateways))?;
        let (routes, is_partial) =
            self.client.header_routes_everywhere(&namespaces(record, namespace)).await?;
        let gateways: Vec<Value> = gateways.into_values().collect();
        let grants = self.client.grants(namespace, routes.iter()).await?;
        let mut names = namespaces_of(&routes);
        names.insert(namespace);
        let namespaces = self.selected_namespaces(gateways.iter(), names).await;
        Ok((GatewayApiObjects { service, routes, gateways, grants, namespaces }, is_partial))
    }

    /// Our objects beside routes of others that are no longer what follows from these. `objects` are ours.
    pub(crate) async fn outdated(
        &self,
        release: &ReleaseName,
        record: &Record,
        objects: &BTreeMap<Reference, Value>,
    ) -> Result<Vec<Outdated>, Error> {
        if record.routes != Routes::GatewayApi {
            return Ok(Vec::new());
        }
        let parents = objects.iter().flat_map(|(object, body)| parents(object, body)).collect();
        let rules = self.rules(release.namespace.as_str(), record).await?;
        let observed = Observed {
            service_host: ServiceHost::new(&record.service.name, release.namespace.as_str()).fqdn(),
            objects: objects.clone(),
            clients: self.clients(record, &rules.found).await?,
            rules: rules.found,
            gateway_api: Box::new(self.gateway_api_objects(release, record, parents).await?.0),
            ..Observed::default()
        };
        Ok(observed.outdated(release, record)?)
    }

    /// The default of requests that no route of a version takes, if it is not stable alone. None where the routes are of another kind.
    pub(crate) async fn default_route(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<Option<DefaultRoute>, Error> {
        if record.routes != Routes::GatewayApi {
            return Ok(None);
        }
        let namespace = release.namespace.as_str();
        match self.client.service_selector(namespace, &record.service.name).await {
            // Without the Service no request gets there.
            Err(Error::NoService { .. }) => Ok(None),
            selector => Ok(DefaultRoute::of(namespace, record, &selector?)),
        }
    }
}

/// The Gateways of a route of ours.
fn parents(object: &Reference, body: &Value) -> Vec<NamespacedName> {
    let parents = body.pointer("/spec/parentRefs").and_then(Value::as_array).into_iter().flatten();
    let parents = parents.filter_map(|parent| {
        let text = |field: &str| parent.get(field).and_then(Value::as_str);
        Some((text("namespace").unwrap_or(&object.namespace).to_owned(), text("name")?.to_owned()))
    });
    parents.collect()
}
