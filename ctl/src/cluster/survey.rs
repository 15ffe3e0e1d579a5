//! Reads what a first canary.yaml can be made of.

use super::refusal::Attempt;
use super::{Cluster, Error};
use crate::plan::Reference;
use crate::survey::{Gateway, Objects};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::core::{GroupVersionKind, TypeMeta};
use serde_json::Value;
use std::collections::BTreeMap;

const ISTIO: &str = "networking.istio.io/v1";

impl Cluster {
    /// A Service with what belongs to it; `None` where it is not there.
    pub async fn application(&self, namespace: &str, name: &str) -> Result<Option<Objects>, Error> {
        let Some(service) = self.get(&Reference::new("v1", "Service", namespace, name)).await? else {
            return Ok(None);
        };
        let selector = labels(service.pointer("/spec/selector"));
        let pods = if selector.is_empty() { Vec::new() } else { self.pods(namespace, &selector).await? };
        Ok(Some(Objects {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            service,
            pods: pods.iter().filter_map(|pod| serde_json::to_value(pod).ok()).collect(),
            virtual_services: self.list_istio("VirtualService", namespace).await?,
            destination_rules: self.list_istio("DestinationRule", namespace).await?,
        }))
    }

    /// A Gateway by `<namespace>/<name>`, and where its pods run: in its own namespace, or wherever else they are found.
    /// `None` where it is not there.
    pub async fn gateway(&self, name: &str) -> Result<Option<Gateway>, Error> {
        let Some((namespace, object)) = name.split_once('/') else { return Ok(None) };
        let Some(body) = self.get(&Reference::new(ISTIO, "Gateway", namespace, object)).await? else {
            return Ok(None);
        };
        let selector = labels(body.pointer("/spec/selector"));
        let mut gateway =
            Gateway { name: name.to_owned(), namespace: namespace.to_owned(), selector: selector.clone() };
        if self.pods(namespace, &selector).await?.is_empty()
            && let Some(elsewhere) = self.namespace_of_pods(&selector).await?
        {
            gateway.namespace = elsewhere;
        }
        Ok(Some(gateway))
    }

    /// The first namespace that has pods of these labels.
    async fn namespace_of_pods(&self, labels: &BTreeMap<String, String>) -> Result<Option<String>, Error> {
        let api: Api<Pod> = Api::all(self.client.clone());
        let selector: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let attempt = Attempt { verb: "list", resource: "pods", group: "", namespace: "*", name: "" };
        let found = api.list(&ListParams::default().labels(&selector.join(","))).await;
        let found = found.map_err(|error| attempt.refused(error))?;
        Ok(found.items.into_iter().find_map(|pod| pod.metadata.namespace))
    }

    /// The objects of a kind of Istio's in a namespace.
    pub(super) async fn list_istio(&self, kind: &str, namespace: &str) -> Result<Vec<Value>, Error> {
        self.list(ISTIO, kind, namespace).await
    }

    /// The objects of any kind in a namespace.
    pub(super) async fn list(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
    ) -> Result<Vec<Value>, Error> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &resource);
        let (plural, group) = (resource.plural.as_str(), resource.group.as_str());
        let attempt = Attempt { verb: "list", resource: plural, group, namespace, name: "" };
        let found = api.list(&ListParams::default()).await.map_err(|error| attempt.refused(error))?;
        // Items of a list do not say what they are, unless their kind is somebody's own.
        let named = |mut object: DynamicObject| {
            object.types = Some(TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() });
            serde_json::to_value(object).ok()
        };
        Ok(found.items.into_iter().filter_map(named).collect())
    }
}

fn labels(object: Option<&Value>) -> BTreeMap<String, String> {
    let entries = object.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}
