//! What `twin render` prints, applied again and again as Argo CD and Flux do, while a canary comes, is promoted and finished: nothing
//! changes but by a new file, and no pod is replaced.
//!
//! Argo CD applies with kubectl's code, client-side or with `ServerSideApply=true` by `--server-side --force-conflicts`, both as
//! `argocd-controller` (gitops-engine, `newApplyOptions`). Flux applies what its dry run finds changed, by force, as `kustomize-controller`
//! (fluxcd/pkg, `ResourceManager.ApplyAll`). Both find what they prune by a mark on it.

use super::running_chart::{exposed, exposed_with};
use super::{AUTOSCALER, TwinChart};
use crate::support::in_the_mesh;
use crate::support::release_fixture::{Verb, turn};
use mesh_lab::{Helm, documents};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasm_tests::scenario::HOST;

/// Between two reconciliations; Argo CD heals after 5 s, Flux after its interval of minutes.
const INTERVAL: Duration = Duration::from_millis(500);
const KINDS: &str = "deployments,services,configmaps,poddisruptionbudgets,horizontalpodautoscalers";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    ArgoCd,
    ArgoCdServerSide,
    Flux,
}

impl Tool {
    fn apply(self) -> &'static [&'static str] {
        match self {
            Self::ArgoCd => &["--field-manager=argocd-controller"],
            Self::ArgoCdServerSide => {
                &["--server-side", "--force-conflicts", "--field-manager=argocd-controller"]
            }
            Self::Flux => &["--server-side", "--force-conflicts", "--field-manager=kustomize-controller"],
        }
    }

    /// What it marks its objects with.
    fn mark(self) -> (&'static str, &'static str) {
        match self {
            Self::ArgoCd | Self::ArgoCdServerSide => ("annotations", "argocd.argoproj.io/tracking-id"),
            Self::Flux => ("labels", "kustomize.toolkit.fluxcd.io/name"),
        }
    }
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn argo_cd_and_a_release_change_nothing_of_each_other() {
    walk("argocd", Tool::ArgoCd);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn argo_cd_by_server_side_apply_and_a_release_change_nothing_of_each_other() {
    walk("argocd-ssa", Tool::ArgoCdServerSide);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn flux_and_a_release_change_nothing_of_each_other() {
    walk("flux", Tool::Flux);
}

/// From a chart that runs without our tools to the end of its first promotion.
fn walk(name: &str, tool: Tool) {
    in_the_mesh(async |lab| {
        let (loaded, chart) = exposed(lab, name, Helm::Three).await;
        let git = GitOps { chart: &chart, tool, done: AtomicU64::new(0) };
        git.render_chart("v1").await;
        std::fs::copy(chart.path("v1.yaml"), chart.path("shop.yaml")).unwrap();
        let script = async {
            git.synced().await;
            chart.ready("shop").await;
            let stable = chart.pods_with("app=shop").await;
            chart.canary_ctl(&["twin", "adopt", "shop"]).await;
            git.is_at_rest("adopted").await;
            assert_eq!(chart.pods("v1").await, stable, "adopted");
            loaded.answers(HOST).await;
            loaded.apply().await;

            git.render_chart("v2").await;
            git.commit("v2", &[]).await;
            chart.canary_ctl(&["twin", "wait", "--timeout", "2m"]).await;
            git.is_at_rest("at weight 0").await;
            assert_eq!(chart.pods("v1").await, stable, "after the canary came");
            let promoted = chart.pods("v2").await;
            loaded.weigh("20").await;
            git.is_at_rest("at 20%").await;
            turn(&loaded.cluster, &loaded.release, Verb::Promote).await.unwrap();
            git.is_at_rest("promoted").await;
            turn(&loaded.cluster, &loaded.release, Verb::Finish).await.unwrap();
            git.commit("v2", &["--finish"]).await;
            chart.gone("v1").await;
            git.is_at_rest("finished").await;
            assert_eq!(chart.pods("v2").await, promoted, "the promoted pods stay");
            let names = chart.objects().await;
            assert_eq!(names.len(), 5, "four of the chart, and the record: {names:?}");
            assert!(names.contains("deployment.apps/shop-v2"), "{names:?}");
            let status = chart.canary_ctl(&["status"]).await;
            assert!(!status.contains("problem"), "{status}");
        };
        tokio::select! {
            () = script => {}
            () = git.reconcile() => {}
        }
    });
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn argo_cd_leaves_replicas_to_the_autoscalers_of_both_versions() {
    autoscaled("argocd-scaled", Tool::ArgoCd);
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn flux_leaves_replicas_to_the_autoscalers_of_both_versions() {
    autoscaled("flux-scaled", Tool::Flux);
}

/// Two autoscalers of at least two and three pods: Kubernetes' controller scales each Deployment up to that, without a metric.
fn autoscaled(name: &str, tool: Tool) {
    in_the_mesh(async |lab| {
        let more = AUTOSCALER.replace("minReplicas: 1", "minReplicas: 2");
        let (loaded, chart) = exposed_with(lab, name, Helm::Three, &more).await;
        let git = GitOps { chart: &chart, tool, done: AtomicU64::new(0) };
        git.render_chart("v1").await;
        let alone = chart.canary_ctl(&["twin", "render", "--rendered=v1.yaml"]).await;
        std::fs::write(chart.path("shop.yaml"), alone).unwrap();
        let script = async {
            git.synced().await;
            git.is_scaled("shop", 2).await;
            let stable = chart.pods("v1").await;
            loaded.answers(HOST).await;
            loaded.apply().await;
            git.render_chart("v2").await;
            git.commit("v2", &["--replicas=3"]).await;
            chart.canary_ctl(&["twin", "wait", "--timeout", "2m"]).await;
            git.is_scaled("shop-v2", 3).await;
            chart.no_autoscaler_is_ambiguous(2).await;
            assert_eq!(chart.pods("v1").await, stable, "after the canary came");

            // What an autoscaler writes by a metric, which this cluster has not.
            lab.scale(&chart.namespace, "shop", 3).await.unwrap();
            git.is_scaled("shop", 3).await;
            let promoted = chart.pods("v2").await;
            turn(&loaded.cluster, &loaded.release, Verb::Promote).await.unwrap();
            turn(&loaded.cluster, &loaded.release, Verb::Finish).await.unwrap();
            git.commit("v2", &["--finish"]).await;
            chart.gone("v1").await;
            git.is_scaled("shop-v2", 3).await;
            assert_eq!(chart.pods("v2").await, promoted, "the promoted pods stay");
        };
        tokio::select! {
            () = script => {}
            () = git.reconcile() => {}
        }
    });
}

/// A tool that keeps the cluster as `shop.yaml` says.
struct GitOps<'c, 'l> {
    chart: &'c TwinChart<'l>,
    tool: Tool,
    /// Reconciliations that have ended.
    done: AtomicU64,
}

impl GitOps<'_, '_> {
    async fn reconcile(&self) {
        loop {
            self.apply().await;
            self.prune().await;
            self.done.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn apply(&self) {
        let (field, mark) = self.tool.mark();
        let mut objects = self.file();
        for object in &mut objects {
            object["metadata"][field][mark] = json!("shop");
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let line = [&["apply", "-n", &self.chart.namespace, "-f", "-"], self.tool.apply()].concat();
        self.chart.lab.kubectl_as("admin", &line, &list).await.unwrap();
    }

    /// Deletes what has the mark and is not in the file any more.
    async fn prune(&self) {
        let (field, mark) = self.tool.mark();
        let wanted: BTreeSet<String> = self.file().iter().map(name_of).collect();
        for object in self.live().await {
            let is_marked = object["metadata"][field][mark] == "shop";
            if is_marked && !wanted.contains(&name_of(&object)) {
                let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
                let line = ["delete", kind, name, "-n", &self.chart.namespace, "--wait=false"];
                self.chart.lab.kubectl(&line).await.unwrap();
            }
        }
    }

    fn file(&self) -> Vec<Value> {
        documents(&self.chart.path("shop.yaml")).unwrap()
    }

    async fn live(&self) -> Vec<Value> {
        let line = ["get", KINDS, "-n", &self.chart.namespace, "-o", "json", "--show-managed-fields"];
        let list: Value = serde_json::from_str(&self.chart.lab.kubectl(&line).await.unwrap()).unwrap();
        list["items"].as_array().unwrap().clone()
    }

    /// `helm template` of a version of the chart.
    async fn render_chart(&self, version: &str) {
        let chart = self.chart.text("chart");
        let rendered =
            self.chart.helm(&["template", "shop", &chart, "--set", &format!("version={version}")]).await;
        std::fs::write(self.chart.path(&format!("{version}.yaml")), rendered).unwrap();
    }

    /// Renders the file anew, and returns when it is applied.
    async fn commit(&self, version: &str, arguments: &[&str]) {
        let rendered = format!("--rendered={version}.yaml");
        let line = [&["twin", "render", "--deployed=shop.yaml", &rendered], arguments].concat();
        std::fs::write(self.chart.path("next.yaml"), self.chart.canary_ctl(&line).await).unwrap();
        std::fs::rename(self.chart.path("next.yaml"), self.chart.path("shop.yaml")).unwrap();
        self.synced().await;
    }

    /// Returns when the file of now is applied: the reconciliation under way may have read the one before.
    async fn synced(&self) {
        let from = self.done.load(Ordering::Relaxed);
        let is_done = async || (self.done.load(Ordering::Relaxed) >= from + 2).then_some(());
        self.chart.lab.until("two reconciliations", is_done).await.unwrap();
    }

    /// Fails if a reconciliation changes an object: what is not status, and who owns it since when.
    async fn is_at_rest(&self, when: &str) {
        self.synced().await;
        let before = self.state().await;
        self.synced().await;
        self.synced().await;
        assert_eq!(
            self.state().await,
            before,
            "{:?} {when}: an object changes with each reconciliation",
            self.tool
        );
    }

    /// Returns when a Deployment has so many pods, and no reconciliation changes that.
    async fn is_scaled(&self, deployment: &str, replicas: u64) {
        let line =
            ["get", "deployment", deployment, "-n", &self.chart.namespace, "-o", "jsonpath={.spec.replicas}"];
        let has_all = async || {
            let found = self.chart.lab.kubectl(&line).await.ok()?;
            (found == replicas.to_string()).then_some(())
        };
        self.chart.lab.until(&format!("{replicas} replicas of {deployment}"), has_all).await.unwrap();
        self.chart.ready(deployment).await;
        self.is_at_rest("scaled").await;
        assert!(has_all().await.is_some(), "{:?}: the replicas of {deployment} stay", self.tool);
    }

    async fn state(&self) -> BTreeMap<String, Value> {
        let state = |object: &Value| {
            let fields = object["metadata"]["managedFields"].as_array().unwrap();
            let own: Vec<_> = fields.iter().filter(|one| one["subresource"] != "status").collect();
            let state = json!({"generation": object["metadata"]["generation"], "fields": own});
            (name_of(object), state)
        };
        self.live().await.iter().map(state).collect()
    }
}

fn name_of(object: &Value) -> String {
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
