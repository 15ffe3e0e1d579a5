//! A stand-in for the metrics API: the API server itself serves `metrics.k8s.io`, and a test writes what a metrics server would have
//! measured. Kubernetes' controller of autoscalers asks for it as it does in a real cluster.

use mesh_lab::Lab;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const RESOURCE: &str = "pods.metrics.k8s.io";
/// More often than the lab's controller asks.
const INTERVAL: Duration = Duration::from_secs(1);

/// The metrics of the pods of one namespace.
pub(crate) struct MetricsApi<'l> {
    lab: &'l Lab,
    namespace: String,
    /// The thousandths of a processor that all pods with a value of the label `version` use together. Those without the label count as
    /// the first.
    load: BTreeMap<&'static str, u32>,
}

impl<'l> MetricsApi<'l> {
    pub(crate) async fn serve(lab: &'l Lab, namespace: &str, load: &[(&'static str, u32)]) -> Self {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let version = json!({"name": "v1beta1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": schema}});
        let approval = json!({"api-approved.kubernetes.io": "unapproved, a stand-in"});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": RESOURCE, "annotations": approval},
            "spec": {"group": "metrics.k8s.io", "scope": "Namespaced", "versions": [version],
                "names": {"plural": "pods", "kind": "PodMetrics", "listKind": "PodMetricsList"}},
        });
        lab.apply(&definition.to_string()).await.unwrap();
        let established = ["wait", "--for=condition=Established", "crd", RESOURCE, "--timeout=60s"];
        lab.kubectl(&established).await.unwrap();
        Self { lab, namespace: namespace.to_owned(), load: load.iter().copied().collect() }
    }

    /// Writes the metrics of the pods that are ready, again and again.
    pub(crate) async fn measure(&self) {
        loop {
            // A pod may have gone meanwhile.
            self.measure_once().await.ok();
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn measure_once(&self) -> Result<(), mesh_lab::LabError> {
        let pods = self.list("pods").await?;
        let ready: Vec<&Value> = pods.iter().filter(|pod| is_ready(pod)).collect();
        let count = |version: &str| ready.iter().filter(|pod| self.version(pod) == version).count();
        let now = jiff::Timestamp::now().strftime("%FT%TZ").to_string();
        let measured = ready.iter().map(|pod| {
            let version = self.version(pod);
            let pods = u32::try_from(count(version)).unwrap_or(1);
            let each = self.load.get(version).copied().unwrap_or_default() / pods.max(1);
            let usage = json!({"cpu": format!("{each}m"), "memory": "16Mi"});
            let metadata = json!({"name": pod["metadata"]["name"], "namespace": self.namespace,
                "labels": pod["metadata"]["labels"]});
            json!({"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": metadata,
                "timestamp": now, "window": "1s", "containers": [{"name": "shop", "usage": usage}]})
        });
        let items: Vec<Value> = measured.collect();
        self.forget_others(&items).await?;
        if items.is_empty() {
            return Ok(());
        }
        self.lab.apply(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).await?;
        Ok(())
    }

    /// Deletes the metrics of pods that are gone.
    async fn forget_others(&self, measured: &[Value]) -> Result<(), mesh_lab::LabError> {
        let kept: BTreeSet<&str> = measured.iter().filter_map(name).collect();
        for old in self.list(RESOURCE).await?.iter().filter_map(name).filter(|old| !kept.contains(old)) {
            self.lab.kubectl(&["delete", RESOURCE, old, "-n", &self.namespace]).await?;
        }
        Ok(())
    }

    async fn list(&self, resource: &str) -> Result<Vec<Value>, mesh_lab::LabError> {
        let list = self.lab.kubectl(&["get", resource, "-n", &self.namespace, "-o", "json"]).await?;
        let list: Value = serde_json::from_str(&list).unwrap();
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    fn version<'v>(&self, pod: &'v Value) -> &'v str {
        let first = self.load.keys().next().copied().unwrap_or_default();
        pod["metadata"]["labels"]["version"].as_str().unwrap_or(first)
    }
}

fn name(object: &Value) -> Option<&str> {
    object["metadata"]["name"].as_str()
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.filter(|one| one["type"] == "Ready").any(|one| one["status"] == "True");
    ready && pod["metadata"]["deletionTimestamp"].is_null()
}
