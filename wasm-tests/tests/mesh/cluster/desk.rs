//! Namespaces for one test, and an operator in front of them.

use canary_ctl::cluster::{
    Access, Applied, ApplyOptions, Asked, Cluster, Error, LeaseTiming, RoleChanged, RollbackOptions,
    WaitOptions, WriteOptions,
};
use canary_ctl::plan::{CheckFailed, PreflightCheck, RollbackTarget, ends_after};
use canary_ctl::spec::{Release, ReleaseName, parse};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::process::Command;
use wasm_tests::artifact;
use wasm_tests::lab::Lab;
use wasm_tests::scenario::Document;

/// What a release comes to: a subset rule, routes for gateways and mesh, configuration, filter, record, keys.
pub(super) const KINDS: &str = "destinationrule,virtualservice,envoyfilter,configmap,secret";

/// The Leases of who was killed hold on for so long.
pub(super) const BRIEF: LeaseTiming =
    LeaseTiming { lease: Duration::from_secs(1), wait: Duration::from_secs(20) };

/// An operator with all rights, and namespaces without pods.
pub(super) struct Desk<'l> {
    pub(super) lab: &'l Lab,
    /// Where releases are; their gateway is in `<namespace>-ingress`.
    pub(super) namespace: String,
}

impl<'l> Desk<'l> {
    pub(super) async fn new(lab: &'l Lab, namespace: &str) -> Self {
        for name in [namespace.to_owned(), format!("{namespace}-ingress")] {
            lab.kubectl(&["create", "namespace", &name]).await.unwrap();
        }
        Self { lab, namespace: namespace.to_owned() }
    }

    /// A release in these namespaces, behind the one gateway.
    pub(super) fn release(&self, name: &str) -> Release {
        Self::read(&self.document(name))
    }

    pub(super) fn read(document: &Document) -> Release {
        parse(Path::new("canary.yaml"), &document.text()).unwrap().release
    }

    /// Its file.
    pub(super) fn document(&self, name: &str) -> Document {
        let gateway = format!("{}-ingress", self.namespace);
        let gateways = json!([{"name": format!("{gateway}/gateway"), "selector": {"istio": "gateway"}}]);
        Document::session(name)
            .with("/metadata/namespace", self.namespace.as_str())
            .with("/spec/hosts", json!([format!("{name}.example.com")]))
            .with("/spec/gateways", gateways)
            .with("/spec/delivery", json!({"module": "oci://registry.example.com/filter:1"}))
    }

    pub(super) async fn cluster(&self) -> Cluster {
        self.cluster_that(WriteOptions::default()).await
    }

    pub(super) async fn cluster_that(&self, writing: WriteOptions) -> Cluster {
        self.cluster_of("admin", writing).await
    }

    /// The same as another of the lab's accounts.
    pub(super) async fn cluster_of(&self, account: &str, writing: WriteOptions) -> Cluster {
        let kubeconfig = Some(self.lab.kubeconfig(account).unwrap());
        Cluster::connect(&Access { kubeconfig, ..Access::default() }, writing).await.unwrap()
    }

    /// Its file, on this machine.
    pub(super) fn file(&self, name: &str) -> NamedTempFile {
        Self::file_of(&self.document(name))
    }

    /// Any file, on this machine.
    pub(super) fn file_of(document: &Document) -> NamedTempFile {
        let file = NamedTempFile::with_suffix(".yaml").unwrap();
        std::fs::write(file.path(), document.text()).unwrap();
        file
    }

    /// The program, in the lab's network, as this account.
    pub(super) fn command(&self, account: &str, file: &NamedTempFile, arguments: &[&str]) -> Command {
        let mut command = Command::new(artifact::canary_ctl().unwrap());
        command.args(arguments).arg("-f").arg(file.path());
        command.arg("--kubeconfig").arg(self.lab.kubeconfig(account).unwrap());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// Runs it to its end.
    pub(super) async fn run(&self, account: &str, file: &NamedTempFile, arguments: &[&str]) -> Ran {
        let output = self.command(account, file, arguments).output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            code: output.status.code().unwrap(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// What is there of ours, each object with its version; what Kubernetes puts into every namespace, and what Helm keeps, left out.
    pub(super) async fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::new();
        for object in self.objects().await {
            let text = |path: &str| object.pointer(path).unwrap().as_str().unwrap().to_owned();
            let name = format!("{} {}", text("/kind"), text("/metadata/name"));
            versions.insert(name, text("/metadata/resourceVersion"));
        }
        versions
    }

    pub(super) async fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for namespace in [self.namespace.clone(), format!("{}-ingress", self.namespace)] {
            let list = self
                .lab
                .kubectl(&["get", KINDS, "-n", &namespace, "-o", "json", "--show-managed-fields"])
                .await
                .unwrap();
            let list: Value = serde_json::from_str(&list).unwrap();
            let items = list["items"].as_array().unwrap().iter();
            objects.extend(items.filter(|item| is_of_a_release(item)).cloned());
        }
        objects
    }
}

/// What a call of the program came to.
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

fn is_of_a_release(object: &Value) -> bool {
    let name = object["metadata"]["name"].as_str().unwrap();
    name != "kube-root-ca.crt" && !name.starts_with("istio-ca-") && !name.starts_with("sh.helm.release.")
}

pub(super) fn name(release: &Release) -> ReleaseName {
    release.name.clone()
}

/// Applies a release whose pods nobody asks for.
pub(super) async fn apply(cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    apply_although(cluster, release, &[PreflightCheck::NoReadyPods, PreflightCheck::NoRoutes]).await
}

pub(super) async fn apply_although(
    cluster: &Cluster,
    release: &Release,
    skipped: &[PreflightCheck],
) -> Result<Applied, Error> {
    let mut progress = |_, _| {};
    let waiting = WaitOptions { patience: Duration::from_secs(5), progress: &mut progress };
    cluster.apply(release, ApplyOptions { waiting, wait: false, skipped, again: false }).await
}

pub(super) async fn uninstall(cluster: &Cluster, release: &Release) -> Result<(), Error> {
    let stored = cluster.get_record(&release.name).await?;
    let mut progress = |_, _| {};
    let mut waiting = WaitOptions { patience: Duration::from_secs(5), progress: &mut progress };
    cluster.uninstall(&release.name, stored, &mut waiting).await.map(drop)
}

/// So many percent.
pub(super) fn percent(share: &str) -> Asked {
    Asked { weight: share.parse().unwrap(), until: None, why: "weight" }
}

/// The ways in which a release turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Promote,
    /// The canary at once, a promotion with a deadline.
    RollBack,
    Finish,
}

/// Turns a release as `canary-ctl promote`, `rollback` and `promote --finish` do, or continues what is under way.
pub(super) async fn turn(cluster: &Cluster, release: &Release, verb: Verb) -> Result<RoleChanged, Error> {
    let stored = cluster.get_record(&release.name).await?;
    let mut progress = |_, _| {};
    let mut waiting = WaitOptions { patience: Duration::from_mins(1), progress: &mut progress };
    let day = Some(canary_ctl::spec::Seconds::DAY);
    match verb {
        Verb::Promote => cluster.promote(&release.name, stored, ends_after(day), Some(&mut waiting)).await,
        Verb::RollBack => {
            let back = match stored.record.to_roll_back()? {
                RollbackTarget::Draining(_) => RollbackTarget::Done,
                back => back,
            };
            let deadline = matches!(back, RollbackTarget::Promotion(_)).then(|| ends_after(day));
            let how = RollbackOptions { back: &back, deadline };
            cluster.roll_back(&release.name, stored, how, &mut waiting).await
        }
        Verb::Finish => {
            let versions = stored.record.draining_versions();
            cluster.finish(&release.name, stored, &versions, &mut waiting).await
        }
    }
}

/// The message of this check's failure.
#[track_caller]
pub(super) fn refused(by: PreflightCheck, done: &Result<impl std::fmt::Debug, Error>) -> String {
    match done {
        Err(Error::Preflight(CheckFailed { check, message, .. })) if *check == by => message.clone(),
        other => panic!("expected `{by}` to fail, found {other:?}"),
    }
}

/// What `canary-ctl weight` checks before it sets a share.
pub(super) async fn check_weight(
    cluster: &Cluster,
    release: &Release,
    share: &str,
    skipped: &[PreflightCheck],
) -> Result<(), Error> {
    let stored = cluster.get_record(&release.name).await.unwrap();
    cluster.check_weight(&release.name, &stored.record, share.parse().unwrap(), skipped).await
}
