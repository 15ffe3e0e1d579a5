//! Two versions of one chart by the real Helm 3 and Helm 4: installed, a canary, promoted, the next canary, rolled back, uninstalled.
//!
//! ```text
//! adopting       the version label for the pods of a running Deployment
//! charts         what becomes of the features of charts, rendered by the real Helm
//! copies         two versions by copies of the objects, and by twins: autoscalers and evictions
//! forgotten      an upgrade without the post-renderer
//! in_place       an upgrade without the post-renderer where stable has the chart's name
//! gitops         files as Argo CD and Flux apply them, again and again
//! rollbacks      Helm's own rollback: of a canary that does not get ready, and in each phase
//! running_chart  an application that runs already, from there to the end of its first promotion, under load
//! ```

mod adopting;
mod charts;
mod copies;
mod forgotten;
mod gitops;
mod in_place;
mod rollbacks;
mod running_chart;

use crate::support::in_the_mesh;
use mesh_lab::{Helm, Lab, LabError, documents};
use programs::artifact;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A chart as its author wrote it: one Deployment behind one Service, its configuration, a disruption budget.
const TEMPLATE: &str = r#"apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}, labels: {helm.sh/chart: shop-{{ .Values.version }}}}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-config}
data: {greeting: 'this is {{ .Values.version }}'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, labels: {helm.sh/chart: shop-{{ .Values.version }}}}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers:
        - name: shop
          image: demo-shop
          args: [--listen=0.0.0.0:8080, --version={{ .Values.version }}, --pod=$(POD_NAME)]
          env:
            - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: GREETING, valueFrom: {configMapKeyRef: {name: {{ .Release.Name }}-config, key: greeting}}}
          ports: [{name: http, containerPort: 8080}]
          readinessProbe: {httpGet: {path: {{ .Values.probe | default "/healthz" }}, port: http}, periodSeconds: 1}
      volumes: {{ .Values.volumes | default list | toJson }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: {{ .Release.Name }}}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: {{ .Release.Name }}}}}
"#;

/// What it may have besides.
const AUTOSCALER: &str = r"---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: {{ .Release.Name }}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .Release.Name }}}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
";

/// What Kubernetes and Istio put into each namespace.
const IN_EACH_NAMESPACE: [&str; 3] =
    ["configmap/kube-root-ca.crt", "configmap/istio-ca-root-cert", "configmap/istio-ca-crl"];

#[test]
fn releases_by_helm_3_restart_no_pod_and_leave_nothing_behind() {
    releases("twins-helm3", Helm::Three);
}

#[test]
fn releases_by_helm_4_restart_no_pod_and_leave_nothing_behind() {
    releases("twins-helm4", Helm::Four);
}

fn releases(namespace: &str, helm: Helm) {
    in_the_mesh(async |lab| {
        lab.kubectl(&["create", "namespace", namespace]).await.unwrap();
        let chart = TwinChart::new(lab, namespace, helm, AUTOSCALER).await;
        chart.versions("v1", "v2");
        chart.upgrade("v1", &[]).await;
        chart.ready("shop").await;
        let stable = chart.pods("v1").await;
        chart.deploy_beside("v2").await;
        assert_eq!(chart.pods("v1").await, stable, "stable's pods after the canary came");
        chart.no_autoscaler_is_ambiguous(2).await;
        chart.is_refused_by_the_selector().await;
        assert_eq!(
            chart.pods("v1").await,
            stable,
            "stable's pods after an upgrade without the post-renderer"
        );
        let promoted = chart.pods("v2").await;
        chart.finish("v2").await;
        assert_eq!(chart.pods("v2").await, promoted, "the promoted pods after the end of the promotion");
        let after_first = chart.objects().await;
        assert_eq!(after_first.len(), 5, "{after_first:?}");

        chart.versions("v2", "v3");
        chart.deploy_beside("v3").await;
        chart.helm(&["rollback", "shop"]).await;
        chart.gone("v3").await;
        assert_eq!(chart.pods("v2").await, promoted, "stable's pods after Helm's rollback");
        assert_eq!(chart.objects().await, after_first, "a rollback leaves nothing behind");

        chart.deploy_beside("v3").await;
        chart.finish("v3").await;
        let names = chart.objects().await;
        assert_eq!(names.len(), 5, "nothing accumulates: {names:?}");
        assert!(names.contains("deployment.apps/shop-v3"), "{names:?}");
        chart.helm(&["uninstall", "shop", "--wait"]).await;
        assert_eq!(chart.objects().await, BTreeSet::new(), "uninstalled");
    });
}

/// A chart in a folder, its `canary.yaml`, and where it is installed.
struct TwinChart<'l> {
    lab: &'l Lab,
    helm: Helm,
    namespace: String,
    folder: TempDir,
    /// What is answered about its hooks and Secrets, as arguments.
    decisions: &'static [&'static str],
}

impl<'l> TwinChart<'l> {
    /// A chart with these objects besides.
    async fn new(lab: &'l Lab, namespace: &str, helm: Helm, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let chart = Self { lab, helm, namespace: namespace.to_owned(), folder, decisions: &[] };
        std::fs::create_dir_all(chart.path("chart/templates")).unwrap();
        std::fs::write(chart.path("chart/Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 0.1.0\n")
            .unwrap();
        std::fs::write(chart.path("chart/templates/shop.yaml"), format!("{TEMPLATE}{more}")).unwrap();
        if helm == Helm::Four {
            // Helm links to the folder, which the charts of a lab share.
            let plugin = lab.logs().join("canary-twin").to_str().unwrap().to_owned();
            chart.canary_ctl(&["twin", "plugin", &plugin]);
            if let Err(error) = lab.helm(helm, &["plugin", "install", &plugin]).await {
                assert!(error.to_string().contains("exists"), "{error}");
            }
        }
        chart
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn versions(&self, stable: &str, canary: &str) {
        let example = artifact::root().join("examples/session-cookie/canary.yaml");
        let text = std::fs::read_to_string(example).unwrap();
        let text = text.replace("stable: v1", &format!("stable: {stable}"));
        std::fs::write(self.path("canary.yaml"), text.replace("canary: v2", &format!("canary: {canary}")))
            .unwrap();
    }

    fn canary_ctl(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(artifact::canary_ctl().unwrap());
        command.env("KUBECONFIG", self.lab.kubeconfig("admin").unwrap());
        let output = command.args(arguments).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    async fn helm(&self, arguments: &[&str]) -> String {
        let line = [arguments, &["--namespace", &self.namespace]].concat();
        self.lab.helm(self.helm, &line).await.unwrap()
    }

    /// `helm upgrade --install` of this version through the post-renderer, with these arguments of it.
    async fn upgrade(&self, version: &str, arguments: &[&str]) {
        self.try_upgrade(version, arguments, &[]).await.unwrap();
    }

    /// The same with arguments of Helm.
    async fn try_upgrade(
        &self,
        version: &str,
        arguments: &[&str],
        helm: &[&str],
    ) -> Result<String, LabError> {
        let (chart, set) = (self.text("chart"), format!("version={version}"));
        let mut line =
            vec!["upgrade", "--install", "shop", &chart, "--set", &set, "--namespace", &self.namespace];
        line.extend(helm);
        line.push("--post-renderer");
        let program = artifact::canary_ctl().unwrap();
        let (before, program): (&[&str], _) = match self.helm {
            Helm::Three => (&["twin", "post-render"], program.to_str().unwrap()),
            Helm::Four => (&[], "canary-twin"),
        };
        line.push(program);
        let file = format!("--file={}", self.text("canary.yaml"));
        for argument in before.iter().copied().chain([file.as_str()]).chain(arguments.iter().copied()) {
            line.extend(["--post-renderer-args", argument]);
        }
        self.lab.helm(self.helm, &line).await
    }

    /// What Helm has recorded as deployed, as a file.
    async fn deployed(&self) -> String {
        let manifest = self.helm(&["get", "manifest", "shop"]).await;
        std::fs::write(self.path("deployed.yaml"), manifest).unwrap();
        format!("--deployed={}", self.text("deployed.yaml"))
    }

    /// Deploys a canary, and compares what Helm has recorded with what `twin render` prints for the same chart.
    async fn deploy_beside(&self, version: &str) {
        let deployed = self.deployed().await;
        let (chart, set) = (self.text("chart"), format!("version={version}"));
        // Helm's record keeps hooks elsewhere.
        let rendered = self.helm(&["template", "shop", &chart, "--no-hooks", "--set", &set]).await;
        std::fs::write(self.path("rendered.yaml"), rendered).unwrap();
        let line = ["twin", "render", &deployed, "--rendered=rendered.yaml"];
        let expected = self.canary_ctl(&[&line, self.decisions].concat());
        std::fs::write(self.path("expected.yaml"), expected).unwrap();
        self.upgrade(version, &[&[deployed.as_str()], self.decisions].concat()).await;
        let label = format!("version={version}");
        self.canary_ctl(&["twin", "wait", "-n", &self.namespace, "--label", &label, "--timeout", "2m"]);
        self.deployed().await;
        assert_eq!(
            sorted(&self.path("deployed.yaml")),
            sorted(&self.path("expected.yaml")),
            "{:?}",
            self.helm
        );
    }

    async fn finish(&self, version: &str) {
        let deployed = self.deployed().await;
        self.upgrade(version, &[&[deployed.as_str(), "--finish"], self.decisions].concat()).await;
        self.ready(&format!("shop-{version}")).await;
    }

    async fn ready(&self, deployment: &str) {
        self.lab.rolled_out(&self.namespace, &format!("deployment/{deployment}")).await.unwrap();
    }

    /// The uids of a version's pods.
    async fn pods(&self, version: &str) -> BTreeSet<String> {
        self.pods_with(&format!("app=shop,version={version}")).await
    }

    /// The uids of the pods with these labels.
    async fn pods_with(&self, selector: &str) -> BTreeSet<String> {
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

    async fn gone(&self, version: &str) {
        let selector = format!("app=shop,version={version}");
        let is_gone = async || {
            self.lab.pods(&self.namespace, &selector).await.is_ok_and(|pods| pods.is_empty()).then_some(())
        };
        self.lab.until("the end of the canary's pods", is_gone).await.unwrap();
    }

    /// The chart's objects on the cluster.
    async fn objects(&self) -> BTreeSet<String> {
        let kinds = "deployments,services,configmaps,horizontalpodautoscalers,poddisruptionbudgets";
        let text = self.lab.kubectl(&["get", kinds, "-n", &self.namespace, "-o", "name"]).await.unwrap();
        text.lines().filter(|name| !IN_EACH_NAMESPACE.contains(name)).map(str::to_owned).collect()
    }

    /// Two autoscalers whose targets' selectors overlap would both stop.
    async fn no_autoscaler_is_ambiguous(&self, count: usize) {
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
}

/// The documents of a file, by kind and name.
fn sorted(path: &PathBuf) -> Vec<Value> {
    let mut objects = documents(path).unwrap();
    objects.sort_by_key(|object| format!("{} {}", object["kind"], object["metadata"]["name"]));
    objects
}
