//! Writes objects and waits for them as `kubectl` does. Most calls of a test are these, and each `kubectl` takes a tenth
//! of a second of the processor.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use envoy_kit::{Sample, parse_samples};
use http::Request;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, ValidationDirective};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiResource, Scope, pinned_kind};
use kube::runtime::wait::await_condition;
use kube::{Error, ResourceExt};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::error::LabError;
use super::kubernetes::Kubernetes;
use super::{istio, manifest};

/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(50);

/// The kinds that were asked for, as the API server has them. A kind that is there stays.
pub(super) type Kinds = Mutex<HashMap<GroupVersionKind, (ApiResource, Scope)>>;

impl Kubernetes {
    /// Applies these objects as `kubectl apply --server-side`, with its field manager.
    ///
    /// # Errors
    ///
    /// The text is no YAML, or the API server refuses an object; those before it are written.
    pub async fn apply(&self, manifests: &str) -> Result<(), LabError> {
        let mut how = PatchParams::apply("kubectl");
        how.field_validation = Some(ValidationDirective::Strict);
        for object in manifest::parse(manifests)? {
            let (api, name) = self.api_of(&object).await?;
            Box::pin(api.patch(&name, &how, &Patch::Apply(&object))).await?;
        }
        Ok(())
    }

    /// The objects of a collection (`/api/v1/namespaces/shop/secrets`) as `kubectl get -o json --show-managed-fields` prints them.
    ///
    /// # Errors
    ///
    /// The API server does not have the collection.
    pub async fn list(&self, collection: &str) -> Result<Vec<Value>, LabError> {
        let request = Request::get(collection).body(Vec::new()).map_err(Error::HttpError)?;
        let list: Value = self.client()?.request(request).await?;
        let text = |name| list.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut items = list.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.insert("apiVersion".to_owned(), json!(text("apiVersion")));
            item.insert("kind".to_owned(), json!(text("kind").trim_end_matches("List")));
        }
        Ok(items)
    }

    /// Deletes these objects where they exist, and returns when they are gone.
    ///
    /// # Errors
    ///
    /// The text is no YAML, the API server refuses, or an object stays.
    pub async fn delete(&self, manifests: &str) -> Result<(), LabError> {
        let objects = manifest::parse(manifests)?;
        for object in &objects {
            let (api, name) = self.api_of(object).await?;
            absent(api.delete(&name, &DeleteParams::background()).await.map(drop))?;
        }
        for object in &objects {
            let (api, name) = self.api_of(object).await?;
            let gone = async || api.get_metadata_opt(&name).await.ok()?.is_none().then_some(());
            self.until(&format!("the end of {name}"), gone).await?;
        }
        Ok(())
    }

    /// Deletes these namespaces without waiting; one that is gone is no error.
    ///
    /// # Errors
    ///
    /// The API server refuses.
    pub async fn delete_namespaces(&self, names: &[&str]) -> Result<(), LabError> {
        let namespaces: Api<Namespace> = Api::all(self.client()?);
        for name in names {
            absent(namespaces.delete(name, &DeleteParams::background()).await.map(drop))?;
        }
        Ok(())
    }

    async fn api_of(&self, object: &Value) -> Result<(Api<DynamicObject>, String), LabError> {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
        let (Some(version), Some(kind), Some(name)) =
            (text("/apiVersion"), text("/kind"), text("/metadata/name"))
        else {
            return Err(LabError::Unexpected {
                what: "manifest",
                expected: "apiVersion, kind and metadata.name",
                found: object.to_string(),
            });
        };
        let (resource, scope) = self.resource(version, kind).await?;
        let client = self.client()?;
        let api = match scope {
            Scope::Cluster => Api::all_with(client, &resource),
            Scope::Namespaced => {
                Api::namespaced_with(client, text("/metadata/namespace").unwrap_or("default"), &resource)
            }
        };
        Ok((api, name.to_owned()))
    }

    async fn resource(&self, api_version: &str, kind: &str) -> Result<(ApiResource, Scope), LabError> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = GroupVersionKind::gvk(group, version, kind);
        let kinds = || self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kinds().get(&kind) {
            return Ok(found.clone());
        }
        let (resource, capabilities) = Box::pin(pinned_kind(&self.client()?, &kind)).await?;
        let found = (resource, capabilities.scope);
        kinds().insert(kind, found.clone());
        Ok(found)
    }

    /// Waits until a Deployment is rolled out, as `kubectl rollout status` does.
    pub async fn rolled_out(&self, namespace: &str, deployment: &str) -> Result<(), LabError> {
        let start = Instant::now();
        let deployments: Api<Deployment> = Api::namespaced(self.client()?, namespace);
        let rolled_out = await_condition(deployments.clone(), deployment, is_rolled_out);
        if matches!(timeout(DEADLINE, Box::pin(rolled_out)).await, Ok(Ok(_))) {
            return Ok(());
        }
        let found = deployments.get(deployment).await;
        Err(LabError::Timeout {
            what: format!("the rollout of {deployment} in {namespace}"),
            after: start.elapsed(),
            found: found.map_or_else(|error| error.to_string(), |found| json!(found.status).to_string()),
            logs: self.log_tails(&format!("{namespace}.")) + &self.control_plane_logs(),
        })
    }

    /// Sets how many pods a Deployment has, and does not wait for them.
    ///
    /// # Errors
    ///
    /// The API server refuses.
    pub async fn scale(&self, namespace: &str, deployment: &str, replicas: usize) -> Result<(), LabError> {
        let deployments: Api<Deployment> = Api::namespaced(self.client()?, namespace);
        let scale = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        deployments.patch_scale(deployment, &PatchParams::default(), &scale).await?;
        Ok(())
    }

    /// Polls until the result is `Some`; `what` names the condition in messages.
    pub async fn until<T>(&self, what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> Result<T, LabError> {
        let start = Instant::now();
        while start.elapsed() < DEADLINE {
            if let Some(response) = ask().await {
                return Ok(response);
            }
            sleep(POLL).await;
        }
        Err(LabError::Timeout {
            what: what.to_owned(),
            after: DEADLINE,
            found: "nothing of it".to_owned(),
            logs: String::new(),
        })
    }

    /// The address of a Service. It stays the same while pods are replaced.
    pub async fn service(&self, namespace: &str, name: &str, port: u16) -> Result<SocketAddr, LabError> {
        let services: Api<Service> = Api::namespaced(self.client()?, namespace);
        let found = services.get(name).await?.spec.and_then(|spec| spec.cluster_ip).unwrap_or_default();
        let address = found.parse().map_err(|_| LabError::Unexpected {
            what: "address of a service",
            expected: "an IP address",
            found,
        })?;
        Ok(SocketAddr::new(address, port))
    }

    /// The names of the pods with these labels (`app=shop,version=v2`) that exist and are not terminating.
    pub async fn pods(&self, namespace: &str, labels: &str) -> Result<Vec<String>, LabError> {
        let pods: Api<Pod> = Api::namespaced(self.client()?, namespace);
        let found = pods.list(&ListParams::default().labels(labels)).await?.items;
        let staying = found.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
        Ok(staying.map(ResourceExt::name_any).collect())
    }

    /// The metrics of a proxy, from its port 15090 through the API server; in Prometheus' names (`envoy_…`,
    /// `canary_…`).
    pub async fn proxy_stats(&self, namespace: &str, pod: &str) -> Result<Vec<Sample>, LabError> {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}:15090/proxy/stats/prometheus");
        let request = Request::get(path).body(Vec::new()).map_err(std::io::Error::other);
        let request = request.map_err(LabError::system("make a request for metrics"))?;
        Ok(parse_samples(&self.client()?.request_text(request).await?))
    }

    /// The sum of the samples with this name and at least these labels; 0 where there is none.
    pub async fn proxy_metric(
        &self,
        namespace: &str,
        pod: &str,
        name: &str,
        labels: &[(&str, &str)],
    ) -> Result<f64, LabError> {
        let samples = self.proxy_stats(namespace, pod).await?;
        Ok(samples.iter().filter(|sample| sample.is(name, labels)).map(|sample| sample.value).sum())
    }

    /// Stops istiod, and returns when it has ended.
    pub async fn stop_istiod(&self) -> Result<(), LabError> {
        self.scale(istio::SYSTEM, "istiod", 0).await?;
        let gone = async || {
            self.pods(istio::SYSTEM, "app=istiod").await.is_ok_and(|pods| pods.is_empty()).then_some(())
        };
        self.until("the end of istiod", gone).await
    }

    /// Brings istiod back, and returns when it is ready.
    pub async fn start_istiod(&self) -> Result<(), LabError> {
        self.scale(istio::SYSTEM, "istiod", 1).await?;
        self.rolled_out(istio::SYSTEM, "istiod").await
    }
}

/// What does not exist has been deleted.
fn absent(deleted: Result<(), Error>) -> Result<(), Error> {
    match deleted {
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        other => other,
    }
}

/// The conditions of `kubectl rollout status`: the controller has seen the last change, all pods are of it, and ready.
fn is_rolled_out(deployment: Option<&Deployment>) -> bool {
    let Some((deployment, status)) = deployment.and_then(|found| Some((found, found.status.as_ref()?)))
    else {
        return false;
    };
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let updated = status.updated_replicas.unwrap_or(0);
    status.observed_generation >= deployment.metadata.generation
        && updated >= wanted
        && status.replicas.unwrap_or(0) <= updated
        && status.available_replicas.unwrap_or(0) >= updated
}
