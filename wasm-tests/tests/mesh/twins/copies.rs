//! Two versions of a chart by copying its objects, without our tools, and by `twin render`, with the real controllers of Kubernetes: the
//! copies stop both autoscalers and cannot be evicted, the twins do and can.

use super::{AUTOSCALER, TwinChart};
use crate::support::in_the_mesh;
use mesh_lab::{Helm, Lab, LabError, documents};
use serde_json::{Value, json};

/// What has to be there twice if somebody wants a second version: the rest of the chart serves both.
const COPIED: [&str; 3] = ["Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"];
/// Why an autoscaler does not scale in a lab, which has no metrics: it has found its pods, and asked for their metrics.
const ACTIVE: &str = "FailedGetResourceMetric";

#[test]
fn copies_of_a_chart_stop_both_autoscalers_and_cannot_be_evicted_and_its_twins_do_not_and_can() {
    in_the_mesh(async |lab| {
        tokio::join!(copies(lab, "twins-copied"), twins(lab, "twins-rendered"));
    });
}

async fn copies(lab: &Lab, namespace: &str) {
    let chart = rendered(lab, namespace).await;
    chart.apply_file("v1.yaml").await;
    chart.ready("shop").await;
    chart.apply_objects(&copied(&chart)).await;
    chart.ready("shop-v2").await;
    chart.autoscalers_say(["AmbiguousSelector"; 2]).await;
    let pods = chart.pods("v2").await;
    let refused = chart.evict("v2").await.expect_err("a pod in two disruption budgets").to_string();
    assert!(refused.contains("This pod has more than one PodDisruptionBudget"), "{refused}");
    assert_eq!(chart.pods("v2").await, pods, "the pod stays, whatever is evicted");
}

async fn twins(lab: &Lab, namespace: &str) {
    let chart = rendered(lab, namespace).await;
    for (file, line) in [
        ("deployed.yaml", &["--rendered=v1.yaml"][..]),
        ("both.yaml", &["--deployed=deployed.yaml", "--rendered=v2.yaml"]),
    ] {
        let objects = chart.canary_ctl(&[&["twin", "render"], line].concat()).await;
        std::fs::write(chart.path(file), objects).unwrap();
        chart.apply_file(file).await;
        chart.ready("shop").await;
    }
    chart.ready("shop-v2").await;
    chart.autoscalers_say([ACTIVE; 2]).await;
    chart.may_be_disrupted("shop").await;
    let evicted = chart.evict("v2").await.expect("a pod in one disruption budget");
    let replaced = async || {
        let pods = lab.pods(namespace, "app=shop,version=v2").await.ok()?;
        (!pods.is_empty() && !pods.contains(&evicted)).then_some(())
    };
    lab.until("another pod instead of the evicted one", replaced).await.unwrap();
}

/// The chart as Helm renders it in two versions, and a namespace for it.
async fn rendered<'l>(lab: &'l Lab, namespace: &str) -> TwinChart<'l> {
    lab.kubectl(&["create", "namespace", namespace]).await.unwrap();
    let chart = TwinChart::new(lab, namespace, Helm::Three, AUTOSCALER).await;
    chart.versions("v1", "v2");
    for version in ["v1", "v2"] {
        let set = format!("version={version}");
        let objects = chart.helm(&["template", "shop", &chart.text("chart"), "--set", &set]).await;
        std::fs::write(chart.path(&format!("{version}.yaml")), objects).unwrap();
    }
    chart
}

/// The second version's objects under names of their own, with the version in labels and selectors. Those of the first stay as they are:
/// the selector of a Deployment cannot change.
fn copied(chart: &TwinChart<'_>) -> Vec<Value> {
    let mut objects = documents(&chart.path("v2.yaml")).unwrap();
    objects.retain(|object| COPIED.iter().any(|kind| object["kind"] == *kind));
    for object in &mut objects {
        object["metadata"]["name"] = json!("shop-v2");
        for labels in ["/spec/selector/matchLabels", "/spec/template/metadata/labels"] {
            if let Some(labels) = object.pointer_mut(labels) {
                labels["version"] = json!("v2");
            }
        }
        if let Some(target) = object.pointer_mut("/spec/scaleTargetRef/name") {
            *target = json!("shop-v2");
        }
    }
    objects
}

impl TwinChart<'_> {
    async fn apply_file(&self, file: &str) {
        self.apply_objects(&documents(&self.path(file)).unwrap()).await;
    }

    async fn apply_objects(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let line = ["apply", "--server-side", "-n", &self.namespace, "-f", "-"];
        self.lab.kubectl_as("admin", &line, &list).await.unwrap();
    }

    /// Returns when the controller says this of both autoscalers. The one that it reads first may not know of the second yet.
    async fn autoscalers_say(&self, expected: [&str; 2]) {
        let path = "jsonpath={range .items[*]}{.status.conditions[?(@.type=='ScalingActive')].reason} {end}";
        let line = ["get", "horizontalpodautoscalers", "-n", &self.namespace, "-o", path];
        let mut found = String::new();
        let is_said = async || {
            found = self.lab.kubectl(&line).await.ok()?;
            found.split_whitespace().eq(expected).then_some(())
        };
        let said = self.lab.until("what both autoscalers say", is_said).await;
        assert!(said.is_ok(), "{}: expected {expected:?}, found {found:?}", self.namespace);
    }

    /// Returns when the controller has counted the pods of a disruption budget, and one of them may be evicted.
    async fn may_be_disrupted(&self, budget: &str) {
        let path = "jsonpath={.status.disruptionsAllowed}";
        let line = ["get", "poddisruptionbudget", budget, "-n", &self.namespace, "-o", path];
        let allowed = async || (self.lab.kubectl(&line).await.ok()? == "1").then_some(());
        self.lab.until("a disruption budget that allows one", allowed).await.unwrap();
    }

    /// Asks for the eviction of a pod of this version, as `kubectl drain` does, and returns its name.
    async fn evict(&self, version: &str) -> Result<String, LabError> {
        let namespace = &self.namespace;
        let pods = self.lab.pods(namespace, &format!("app=shop,version={version}")).await?;
        let pod = pods.first().expect("a pod");
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}/eviction");
        let metadata = json!({"name": pod, "namespace": namespace});
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata});
        let line = ["create", "--raw", &path, "-f", "-"];
        self.lab.kubectl_as("admin", &line, &eviction.to_string()).await.map(|_| pod.clone())
    }
}
