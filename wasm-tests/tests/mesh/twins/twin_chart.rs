//! A chart, and the commands of Helm and of `canary-ctl` that release it.

use super::sorted;
use super::templates::shop_with;
use mesh_lab::{Helm, Lab, LabError};
use programs::artifact;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tempfile::TempDir;
use tokio::process::Command;

/// A chart in a folder, its `canary.yaml`, and where it is installed.
pub(super) struct TwinChart<'l> {
    pub(super) lab: &'l Lab,
    pub(super) helm: Helm,
    pub(super) namespace: String,
    pub(super) folder: TempDir,
    /// What is answered about its hooks and Secrets, as arguments.
    pub(super) decisions: &'static [&'static str],
    /// Values besides the version, as `--set` takes them.
    pub(super) values: &'static str,
    /// What selects the chart's pods.
    pub(super) selector: &'static str,
}

impl<'l> TwinChart<'l> {
    /// A chart with these objects besides.
    pub(super) async fn new(lab: &'l Lab, namespace: &str, helm: Helm, more: &str) -> Self {
        let chart = Self::without_templates(lab, namespace, helm).await;
        chart.write_templates(&shop_with(more));
        chart
    }

    /// A folder for a chart, and the post-renderer.
    pub(super) async fn without_templates(lab: &'l Lab, namespace: &str, helm: Helm) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let namespace = namespace.to_owned();
        let chart = Self { lab, helm, namespace, folder, decisions: &[], values: "", selector: "app=shop" };
        if helm == Helm::Four {
            // Helm links to the folder, which the charts of a lab share.
            let plugin = lab.logs().join("canary-twin").to_str().unwrap().to_owned();
            chart.canary_ctl(&["twin", "plugin", &plugin]).await;
            if let Err(error) = lab.helm(helm, &["plugin", "install", &plugin]).await {
                assert!(error.to_string().contains("exists"), "{error}");
            }
        }
        chart
    }

    pub(super) fn write_templates(&self, templates: &str) {
        std::fs::create_dir_all(self.path("chart/templates")).unwrap();
        std::fs::write(self.path("chart/Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 0.1.0\n")
            .unwrap();
        std::fs::write(self.path("chart/templates/shop.yaml"), templates).unwrap();
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(super) fn versions(&self, stable: &str, canary: &str) {
        let example = artifact::root().join("examples/session-cookie/canary.yaml");
        let text = std::fs::read_to_string(example).unwrap();
        let text = text.replace("stable: v1", &format!("stable: {stable}"));
        std::fs::write(self.path("canary.yaml"), text.replace("canary: v2", &format!("canary: {canary}")))
            .unwrap();
    }

    /// What `--set` is given.
    pub(super) fn set(&self, version: &str) -> String {
        let image = format!("shop-{version}");
        format!("version={version},image.repository={image},worker.image.repository={image}{}", self.values)
    }

    /// What `canary-ctl` prints.
    pub(super) async fn canary_ctl(&self, arguments: &[&str]) -> String {
        self.canary_ctl_says(arguments).await.0
    }

    /// What it prints, and what it says beside that.
    pub(super) async fn canary_ctl_says(&self, arguments: &[&str]) -> (String, String) {
        let mut command = Command::new(artifact::canary_ctl().unwrap());
        command.args(arguments);
        self.succeeds(command, &format!("{arguments:?}")).await
    }

    /// Runs a program in the chart's folder.
    pub(super) async fn succeeds(&self, mut command: Command, line: &str) -> (String, String) {
        command.env("KUBECONFIG", self.lab.kubeconfig("admin").unwrap());
        let output = command.current_dir(self.folder.path()).output().await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{}: {line}: {said}", self.namespace);
        (String::from_utf8(output.stdout).unwrap(), said)
    }

    pub(super) async fn helm(&self, arguments: &[&str]) -> String {
        let line = [arguments, &["--namespace", &self.namespace]].concat();
        self.lab.helm(self.helm, &line).await.unwrap()
    }

    /// `helm upgrade --install` of this version through the post-renderer, with these arguments of it.
    pub(super) async fn upgrade(&self, version: &str, arguments: &[&str]) {
        self.try_upgrade(version, arguments, &[]).await.unwrap();
    }

    /// The same with arguments of Helm.
    pub(super) async fn try_upgrade(
        &self,
        version: &str,
        arguments: &[&str],
        helm: &[&str],
    ) -> Result<String, LabError> {
        let (chart, set) = (self.text("chart"), self.set(version));
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
    pub(super) async fn deployed(&self) -> String {
        let manifest = self.helm(&["get", "manifest", "shop"]).await;
        std::fs::write(self.path("deployed.yaml"), manifest).unwrap();
        format!("--deployed={}", self.text("deployed.yaml"))
    }

    /// Deploys a canary, and compares what Helm has recorded with what `twin render` prints for the same chart.
    pub(super) async fn deploy_beside(&self, version: &str) {
        let deployed = self.deployed().await;
        let rendered = self.template(version).await;
        std::fs::write(self.path("rendered.yaml"), rendered).unwrap();
        let line = ["twin", "render", &deployed, "--rendered=rendered.yaml"];
        let expected = self.canary_ctl(&[&line, self.decisions].concat()).await;
        std::fs::write(self.path("expected.yaml"), expected).unwrap();
        self.upgrade(version, &[&[deployed.as_str()], self.decisions].concat()).await;
        let label = format!("version={version}");
        self.canary_ctl(&["twin", "wait", "-n", &self.namespace, "--label", &label, "--timeout", "2m"]).await;
        self.deployed().await;
        let [recorded, expected] = ["deployed.yaml", "expected.yaml"].map(|file| self.path(file));
        match self.helm {
            // Helm keeps what the post-renderer has printed.
            Helm::Three => {
                let [recorded, expected] =
                    [recorded, expected].map(|path| std::fs::read_to_string(path).unwrap());
                assert_eq!(recorded.trim(), expected.trim(), "Helm's record, byte for byte");
            }
            // Helm writes it anew, in another order.
            Helm::Four => assert_eq!(sorted(&recorded), sorted(&expected), "Helm's record"),
        }
    }

    pub(super) async fn finish(&self, version: &str) {
        let deployed = self.deployed().await;
        self.upgrade(version, &[&[deployed.as_str(), "--finish"], self.decisions].concat()).await;
        self.ready(&format!("shop-{version}")).await;
    }

    /// The end of the promotion of this version. Returns its objects and its pods; `before` are those of the release before.
    pub(super) async fn promoted(
        &self,
        version: &str,
        before: BTreeSet<String>,
    ) -> (BTreeSet<String>, BTreeSet<String>) {
        let pods = self.pods(version).await;
        self.finish(version).await;
        assert_eq!(self.pods(version).await, pods, "the pods after the end of the promotion of {version}");
        let objects = self.objects().await;
        let lengths = |names: &BTreeSet<String>| names.iter().map(String::len).collect::<Vec<_>>();
        assert_eq!(objects.len(), 5, "nothing accumulates: {objects:?}");
        assert!(objects.contains(&format!("deployment.apps/shop-{version}")), "{objects:?}");
        assert!(before.is_empty() || lengths(&before) == lengths(&objects), "{before:?}, {objects:?}");
        self.record_agrees(version).await;
        (objects, pods)
    }

    /// `helm template`. Hooks are elsewhere in Helm's record.
    pub(super) async fn template(&self, version: &str) -> String {
        let (chart, set) = (self.text("chart"), self.set(version));
        self.helm(&["template", "shop", &chart, "--no-hooks", "--set", &set]).await
    }

    /// The same by the commands that `canary-ctl promote --finish` prints, as they are printed.
    pub(super) async fn finish_as_printed(&self, version: &str) {
        let (_, said) = self.canary_ctl_says(&["promote", "--finish", "--skip-check", "moves-users"]).await;
        let hint = said.lines().find(|line| line.contains("its record and the cluster agree")).expect(&said);
        let printed: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
        let of_helm_3 = |part: &str| printed.iter().rfind(|one| one.contains(part)).copied().expect(hint);
        let (post_renderer, plugin) = (of_helm_3("args post-render"), of_helm_3("canary-twin"));
        let mut typed = 0;
        for command in printed.iter().filter(|one| one.starts_with("helm ")) {
            let mut command = (*command).replace("CHART", "chart");
            if self.helm == Helm::Three {
                command = command.replace(plugin, post_renderer);
            }
            if command.contains("--finish") {
                let decision = |one: &&str| format!(" --post-renderer-args {one}");
                command.extend(self.decisions.iter().map(decision));
            }
            self.types(&command).await;
            typed += 1;
        }
        assert_eq!(typed, 3, "{hint}");
        self.ready(&format!("shop-{version}")).await;
    }

    /// Runs a line in a shell whose `helm` is the chart's.
    pub(super) async fn types(&self, line: &str) {
        let programs = self.path("programs");
        std::fs::create_dir_all(&programs).unwrap();
        for (name, path) in
            [("helm", self.helm.path().unwrap()), ("canary-ctl", artifact::canary_ctl().unwrap())]
        {
            let program = programs.join(name);
            if !program.exists() {
                std::os::unix::fs::symlink(path, program).unwrap();
            }
        }
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", line]).env("PATH", path);
        for place in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(place, self.lab.logs().join("helm"));
        }
        self.succeeds(command, line).await;
    }
}
