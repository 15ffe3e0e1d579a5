//! What becomes of the features of charts, one at a time, as the real Helm 3 and Helm 4 render them; and of what `helm create` writes, with
//! a subchart. No cluster is needed.

use super::templates::{AUTOSCALER, shop_with};
use mesh_lab::Helm;
use programs::artifact;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// What a chart has besides, values for it, decisions, and what becomes of an object (`Kind name: action`), or which check refuses it.
type Feature = (&'static str, &'static str, &'static [&'static str], &'static str);

const FEATURES: [Feature; 9] = [
    ("", "", &[], "ConfigMap shop-config: twinned"),
    (AUTOSCALER, "", &[], "HorizontalPodAutoscaler shop: twinned"),
    (
        "---\n{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {p: '{{ .Values.version }}'}}\n",
        r#"[{"name": "s", "projected": {"sources": [{"secret": {"name": "db"}}]}}]"#,
        &["--twin-secret=db"],
        "Secret db: twinned",
    ),
    (
        "---\n{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {p: {{ randAlphaNum 20 | quote }}}}\n",
        r#"[{"name": "s", "secret": {"secretName": "db"}}]"#,
        &["--rendered-again=again.yaml"],
        "Secret db: shared",
    ),
    (
        "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}}\n",
        "",
        &["--hooks=skip"],
        "Job migrate: skipped",
    ),
    (
        "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}}\n",
        "",
        &[],
        "refused: hooks-answered",
    ),
    (
        "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}, spec: {selector: {matchLabels: {app: worker}},
            template: {metadata: {labels: {app: worker}}, spec: {containers: [{name: w, image: 'w:{{ .Values.version }}'}]}}}}\n",
        "",
        &[],
        "Deployment worker: shared",
    ),
    (
        "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}\n",
        r#"[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]"#,
        &[],
        "refused: shared-claim",
    ),
    (
        "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{apiGroups: [''],
            resources: [configmaps], resourceNames: [shop-config], verbs: [get]}]}\n",
        "",
        &[],
        "Role r: shared",
    ),
];

#[test]
fn each_feature_of_a_chart_becomes_what_the_guide_says_with_both_helms() {
    for helm in [Helm::Three, Helm::Four] {
        for (more, volumes, decisions, expected) in FEATURES {
            let chart = Chart::new(helm, "shop");
            chart.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n");
            chart.write("chart/templates/shop.yaml", &shop_with(more));
            let volumes = if volumes.is_empty() { "[]" } else { volumes };
            let set = |version: &str| [format!("version={version}"), format!("volumes={volumes}")];
            for (file, version) in [("v1", "v1"), ("v2", "v2"), ("again", "v2")] {
                let [version, volumes] = set(version);
                chart.render(file, &["--set", &version, "--set-json", &volumes]);
            }
            let found = chart.fates(decisions);
            assert!(
                found.iter().any(|one| one == expected),
                "{helm:?}: expected `{expected}`, found {found:#?}"
            );
        }
    }
}

/// The scaffold has a service account, probes and a test pod; its tag is the application's version.
#[test]
fn what_helm_create_writes_with_a_subchart_runs_in_two_versions() {
    for helm in [Helm::Three, Helm::Four] {
        let chart = Chart::new(helm, "shop-chart");
        chart.helm(&["create", "chart"]);
        chart.helm(&["create", "chart/charts/worker"]);
        let scaled = ["--set", "autoscaling.enabled=true"];
        for version in ["v1", "v2"] {
            let tag = format!("image.tag={version}");
            chart.render(version, &[&scaled[..], &["--set", &tag]].concat());
        }
        let found = chart.fates(&[]);
        for expected in [
            "Deployment shop-chart: twinned",
            "HorizontalPodAutoscaler shop-chart: twinned",
            "Service shop-chart: shared",
            "ServiceAccount shop-chart: shared",
            "Deployment shop-worker: shared",
            "Service shop-worker: shared",
        ] {
            assert!(
                found.iter().any(|one| one == expected),
                "{helm:?}: expected `{expected}`, found {found:#?}"
            );
        }
    }
}

/// A chart in a folder.
struct Chart {
    helm: Helm,
    folder: TempDir,
}

impl Chart {
    /// With a release of this Service.
    fn new(helm: Helm, service: &str) -> Self {
        let chart = Self { helm, folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(chart.path("chart/templates")).unwrap();
        let release =
            std::fs::read_to_string(artifact::root().join("examples/session-cookie/canary.yaml")).unwrap();
        let named =
            release.replace("  service:\n    name: shop\n", &format!("  service:\n    name: {service}\n"));
        chart.write("canary.yaml", &named);
        chart
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn helm(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(self.helm.path().unwrap());
        for place in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(place, self.path("helm"));
        }
        let (succeeded, output) = self.run(command.args(arguments));
        assert!(succeeded, "{:?} {arguments:?}: {output}", self.helm);
        output
    }

    /// `helm template`, as a file.
    fn render(&self, file: &str, values: &[&str]) {
        let rendered = self.helm(&[&["template", "shop", "chart", "--namespace=shop"], values].concat());
        self.write(&format!("{file}.yaml"), &rendered);
    }

    /// Standard output, and with a failure the errors behind it.
    fn run(&self, command: &mut Command) -> (bool, String) {
        let output = command.current_dir(self.folder.path()).output().unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        if !output.status.success() {
            text.push_str(&String::from_utf8_lossy(&output.stderr));
        }
        (output.status.success(), text)
    }

    fn canary_ctl(&self, arguments: &[&str]) -> (bool, String) {
        self.run(Command::new(artifact::canary_ctl().unwrap()).args(arguments))
    }

    /// What becomes of each object of the second version, and what refuses it. What is not refused is rendered to its end.
    fn fates(&self, decisions: &[&str]) -> Vec<String> {
        let (succeeded, alone) = self.canary_ctl(&["twin", "render", "--rendered=v1.yaml"]);
        assert!(succeeded, "{alone}");
        self.write("deployed.yaml", &alone);
        let both = [&["--deployed=deployed.yaml", "--rendered=v2.yaml"], decisions].concat();
        let (_, plan) = self.canary_ctl(&[&["twin", "diff", "-o", "json"], &both[..]].concat());
        let plan: Value = serde_json::from_str(&plan).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let refused = plan["refusals"].as_array().unwrap().iter();
        let refused: Vec<_> = refused.map(|one| format!("refused: {}", text(&one["check"]))).collect();
        if refused.is_empty() {
            self.goes_to_the_end_and_back(&both, decisions);
        }
        let decided = plan["decisions"].as_array().unwrap().iter();
        let decided = decided
            .map(|one| format!("{} {}: {}", text(&one["kind"]), text(&one["name"]), text(&one["action"])));
        refused.into_iter().chain(decided).collect()
    }

    fn goes_to_the_end_and_back(&self, both: &[&str], decisions: &[&str]) {
        let (succeeded, text) = self.canary_ctl(&[&["twin", "render"], both].concat());
        assert!(succeeded, "{text}");
        self.write("both.yaml", &text);
        let rest = |rendered: &'static str, phase: &'static str| {
            [&["twin", "render", "--deployed=both.yaml", rendered, phase], decisions].concat()
        };
        let (finished, text) = self.canary_ctl(&rest("--rendered=v2.yaml", "--finish"));
        assert!(finished, "{text}");
        let (back, text) = self.canary_ctl(&rest("--rendered=v1.yaml", "--alone"));
        let deployed = std::fs::read_to_string(self.path("deployed.yaml")).unwrap();
        assert!(back, "{text}");
        assert_eq!(without_hooks(&text), without_hooks(&deployed), "stable alone again");
    }
}

/// The documents of what Helm keeps.
fn without_hooks(text: &str) -> Vec<&str> {
    text.split("---\n").filter(|document| !document.contains("helm.sh/hook")).collect()
}
