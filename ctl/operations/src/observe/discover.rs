//! Reads what a first canary.yaml can be made of.

use crate::client::ApiRequest;
use crate::{Cluster, Error};
use canary_release::discover::{ExistingGateway, Objects};
use canary_release::object::Reference;
use canary_release::routing::{GATEWAY_API, GATEWAY_NAME_LABEL, ROUTE_KIND};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use serde_json::Value;
use std::collections::BTreeMap;

const ISTIO: &str = "networking.istio.io/v1";

impl Cluster {
    /// A Service with what belongs to it; `None` if it is not there.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses.
    pub async fn application(&self, namespace: &str, name: &str) -> Result<Option<Objects>, Error> {
        let Some(service) = self.client.get(&Reference::new("v1", "Service", namespace, name)).await? else {
            return Ok(None);
        };
        let selector = labels(service.pointer("/spec/selector"));
        let pods =
            if selector.is_empty() { Vec::new() } else { self.client.pods(namespace, &selector).await? };
        Ok(Some(Objects {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            service,
            pods: pods.iter().filter_map(|pod| serde_json::to_value(pod).ok()).collect(),
            route_objects: self.client.list_istio(ROUTE_KIND, namespace).await?,
            destination_rules: self.client.list_istio("DestinationRule", namespace).await?,
        }))
    }

    /// A Gateway by `<namespace>/<name>`, of Istio or of the Gateway API, and where its pods run: in its own namespace, or wherever
    /// else they are found.
    /// `None` if it is not there.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses.
    pub async fn gateway(&self, name: &str) -> Result<Option<ExistingGateway>, Error> {
        let Some((namespace, object)) = name.split_once('/') else { return Ok(None) };
        let Some(body) = self.client.get(&Reference::new(ISTIO, "Gateway", namespace, object)).await? else {
            return self.deployed_gateway(namespace, object).await;
        };
        let selector = labels(body.pointer("/spec/selector"));
        let mut gateway = ExistingGateway {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            selector: selector.clone(),
            speaks_tls: ExistingGateway::has_tls_server(&body),
        };
        if self.client.pods(namespace, &selector).await?.is_empty()
            && let Some(elsewhere) = self.namespace_of_pods(&selector).await?
        {
            gateway.namespace = elsewhere;
        }
        Ok(Some(gateway))
    }

    /// A Gateway of the Gateway API: Istio deploys its pods in its own namespace.
    async fn deployed_gateway(&self, namespace: &str, name: &str) -> Result<Option<ExistingGateway>, Error> {
        let reference = Reference::new(GATEWAY_API, "Gateway", namespace, name);
        let found = match self.client.get(&reference).await {
            Err(Error::Forbidden { .. }) => None,
            found => found?,
        };
        Ok(found.map(|body| ExistingGateway {
            name: format!("{namespace}/{name}"),
            namespace: namespace.to_owned(),
            selector: BTreeMap::from([(GATEWAY_NAME_LABEL.to_owned(), name.to_owned())]),
            speaks_tls: ExistingGateway::has_tls_server(&body),
        }))
    }

    /// The first namespace that has pods of these labels.
    async fn namespace_of_pods(&self, labels: &BTreeMap<String, String>) -> Result<Option<String>, Error> {
        let api: Api<Pod> = Api::all(self.client.client.clone());
        let selector: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = ApiRequest { verb: "list", resource: "pods", group: "", namespace: "*", name: "" };
        let found = api.list(&ListParams::default().labels(&selector.join(","))).await;
        let found = found.map_err(|error| request.error(error))?;
        Ok(found.items.into_iter().find_map(|pod| pod.metadata.namespace))
    }
}

fn labels(object: Option<&Value>) -> BTreeMap<String, String> {
    let entries = object.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}
