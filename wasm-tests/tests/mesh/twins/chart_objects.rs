//! What is there of a chart on the cluster: its objects, its pods, and whether Helm has recorded the same.

use super::{HELMS, IN_EACH_NAMESPACE, LISTED, TwinChart, sorted, text};
use mesh_lab::documents;
use serde_json::Value;
use std::collections::BTreeSet;

impl TwinChart<'_> {
    pub(super) async fn ready(&self, deployment: &str) {
        self.lab.rolled_out(&self.namespace, deployment).await.unwrap();
    }

    /// The uids of a version's pods.
    pub(super) async fn pods(&self, version: &str) -> BTreeSet<String> {
        self.pods_with(&format!("{},version={version}", self.selector)).await
    }

    /// The uids of the pods with these labels.
    pub(super) async fn pods_with(&self, selector: &str) -> BTreeSet<String> {
        let uids = "jsonpath={.items[*].metadata.uid}";
        let text = self
            .lab
            .kubectl(&["get", "pods", "-n", &self.namespace, "-l", selector, "-o", uids])
            .await
            .unwrap();
        let uids: BTreeSet<String> = text.split_whitespace().map(str::to_owned).collect();
        assert!(!uids.is_empty(), "pods with {selector}");
        uids
    }

    pub(super) async fn gone(&self, version: &str) {
        let selector = format!("{},version={version}", self.selector);
        let is_gone = async || {
            self.lab.pods(&self.namespace, &selector).await.is_ok_and(|pods| pods.is_empty()).then_some(())
        };
        self.lab.until("the end of the canary's pods", is_gone).await.unwrap();
    }

    /// The chart's objects on the cluster.
    pub(super) async fn objects(&self) -> BTreeSet<String> {
        let kinds = "deployments,services,configmaps,horizontalpodautoscalers,poddisruptionbudgets";
        let text = self.lab.kubectl(&["get", kinds, "-n", &self.namespace, "-o", "name"]).await.unwrap();
        text.lines().filter(|name| !IN_EACH_NAMESPACE.contains(name)).map(str::to_owned).collect()
    }

    /// What Helm has deployed, by kind and the chart's name, a twin beside its original. Hooks are not among it.
    pub(super) async fn listed(&self) -> Vec<String> {
        let line = ["get", LISTED, "-n", &self.namespace, "-l", HELMS, "-o", "json"];
        let list: Value = serde_json::from_str(&self.lab.kubectl(&line).await.unwrap()).unwrap();
        let named = |object: &Value| {
            let metadata = &object["metadata"];
            let chart_name = metadata["annotations"]["canary-ctl.io/chart-name"].as_str();
            format!(
                "{} {}",
                object["kind"].as_str().unwrap(),
                chart_name.or(metadata["name"].as_str()).unwrap()
            )
        };
        let mut listed: Vec<String> = list["items"].as_array().unwrap().iter().map(named).collect();
        listed.sort();
        listed
    }

    /// Two autoscalers whose targets' selectors overlap would both stop.
    pub(super) async fn no_autoscaler_is_ambiguous(&self, count: usize) {
        let path =
            "jsonpath={range .items[*]}{.status.conditions[?(@.type=='ScalingActive')].reason}{'\\n'}{end}";
        let line = ["get", "horizontalpodautoscalers", "-n", &self.namespace, "-o", path];
        let all = async || {
            let text = self.lab.kubectl(&line).await.ok()?;
            let reasons: Vec<String> =
                text.lines().filter(|one| !one.is_empty()).map(str::to_owned).collect();
            (reasons.len() == count).then_some(reasons)
        };
        let reasons = self.lab.until("a condition of each autoscaler", all).await.unwrap();
        assert!(reasons.iter().all(|reason| reason != "AmbiguousSelector"), "{reasons:?}");
    }

    /// Fails unless Helm has recorded the objects that there are, and no others, and a render of what it has recorded changes none.
    pub(super) async fn record_agrees(&self, version: &str) {
        let deployed = self.deployed().await;
        let recorded = documents(&self.path("deployed.yaml")).unwrap();
        let name =
            |object: &Value| format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]));
        let recorded: BTreeSet<String> = recorded.iter().map(name).collect();
        let line = ["get", LISTED, "-n", &self.namespace, "-l", HELMS, "-o", "json"];
        let list: Value = serde_json::from_str(&self.lab.kubectl(&line).await.unwrap()).unwrap();
        let there: BTreeSet<String> = list["items"].as_array().unwrap().iter().map(name).collect();
        assert_eq!(recorded, there, "{:?}: Helm's record after the promotion of {version}", self.helm);
        let rendered = self.template(version).await;
        std::fs::write(self.path("rendered.yaml"), rendered).unwrap();
        let line = ["twin", "render", &deployed, "--rendered=rendered.yaml", "--finish"];
        let again = self.canary_ctl(&[&line, self.decisions].concat()).await;
        std::fs::write(self.path("again.yaml"), again).unwrap();
        assert_eq!(sorted(&self.path("again.yaml")), sorted(&self.path("deployed.yaml")), "{:?}", self.helm);
    }
}
