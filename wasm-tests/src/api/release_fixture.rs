//! Namespaces for one test, and an operator in front of them.

use crate::api::kill::interrupt;
use crate::scenario::Document;
use canary_operations::{
    Access, Applied, ApplyOptions, Cluster, Error, LastAlerts, LeaseTiming, PromoteOptions, RoleChanged,
    RollbackOptions, StoredRecord, UninstallOptions, WaitOptions, WeightRequest, WeightUpdate, WriteOptions,
};
use canary_release::file::parse;
use canary_release::preflight::{CheckFailed, PreflightCheck};
use canary_release::spec::{Release, ReleaseName, Seconds};
use mesh_lab::Kubernetes;
use programs::artifact;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::process::{Child, Command};

/// The Secrets that `apply` fills in the namespace of a gateway.
pub const KEYS: [&str; 2] = ["canary-ctl-keys", "canary-ctl-record-keys"];

/// The kinds of a release's objects: a subset rule, routes for gateways and mesh, configuration, filter, record, keys.
pub const KINDS: [(&str, &str); 5] = [
    ("apis/networking.istio.io/v1", "destinationrules"),
    ("apis/networking.istio.io/v1", "virtualservices"),
    ("apis/networking.istio.io/v1alpha3", "envoyfilters"),
    ("api/v1", "configmaps"),
    ("api/v1", "secrets"),
];

/// The Leases of a killed process are valid for this time.
pub const BRIEF: LeaseTiming = LeaseTiming { lease: Duration::from_secs(3), wait: Duration::from_secs(30) };

/// The checks that a namespace without pods fails.
pub const WITHOUT_PODS: [PreflightCheck; 3] =
    [PreflightCheck::NoReadyPods, PreflightCheck::NoProxies, PreflightCheck::NoRoutes];

/// An operator with all rights, and namespaces without pods.
pub struct ReleaseFixture<'l> {
    pub api: &'l Kubernetes,
    /// Where releases are; their gateway is in `<namespace>-ingress`.
    pub namespace: String,
}

impl<'l> ReleaseFixture<'l> {
    pub async fn new(api: &'l Kubernetes, namespace: &str) -> Self {
        for name in [namespace.to_owned(), format!("{namespace}-ingress")] {
            api.kubectl(&["create", "namespace", &name]).await.unwrap();
            api.apply(&gateway(&name).to_string()).await.unwrap();
        }
        Self { api, namespace: namespace.to_owned() }
    }

    /// A Service without pods.
    pub async fn create_service(&self, name: &str) {
        let service = json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]}});
        self.api.apply(&service.to_string()).await.unwrap();
    }

    /// A release in these namespaces, behind the one gateway.
    pub fn release(&self, name: &str) -> Release {
        Self::read(&self.document(name))
    }

    pub fn read(document: &Document) -> Release {
        parse(Path::new("canary.yaml"), &document.text()).unwrap().release
    }

    pub fn document(&self, name: &str) -> Document {
        let gateway = format!("{}-ingress", self.namespace);
        let gateways = json!([{"name": format!("{gateway}/gateway"), "selector": {"istio": "gateway"}}]);
        Document::session(name)
            .with("/metadata/namespace", self.namespace.as_str())
            .with("/spec/hosts", json!([format!("{name}.example.com")]))
            .with("/spec/gateways", gateways)
            // The Gateway speaks HTTP.
            .with("/spec/cookies", json!({"tls": true}))
            .with("/spec/delivery", json!({"module": "oci://registry.test/filter:1"}))
    }

    pub async fn cluster(&self) -> Cluster {
        self.cluster_that(WriteOptions::default()).await
    }

    pub async fn cluster_that(&self, writing: WriteOptions) -> Cluster {
        self.cluster_of("admin", writing).await
    }

    /// Runs an operation in a process that is killed after so many writes. Fails if it ends before.
    pub async fn interrupt<T: Debug>(
        &self,
        writes: u32,
        options: WriteOptions,
        operation: impl AsyncFnOnce(&Cluster) -> Result<T, Error>,
    ) {
        let kubeconfig = Some(self.api.kubeconfig("admin").unwrap());
        interrupt(&Access { kubeconfig, ..Access::default() }, writes, options, operation).await;
    }

    /// Uninstalls a release in a process that is killed after so many writes, and then in another one to its end.
    pub async fn interrupt_uninstall(&self, writes: u32, release: &Release) {
        self.interrupt(writes, WriteOptions::default(), async |process| uninstall(process, release).await)
            .await;
        match uninstall(&self.cluster().await, release).await {
            // Killed after the record was deleted: nothing was left to do.
            Err(Error::Unknown { .. }) => {}
            done => done.unwrap(),
        }
    }

    /// The same as another of its accounts.
    pub async fn cluster_of(&self, account: &str, writing: WriteOptions) -> Cluster {
        let kubeconfig = Some(self.api.kubeconfig(account).unwrap());
        Cluster::connect(&Access { kubeconfig, ..Access::default() }, writing).await.unwrap()
    }

    /// Its file, on this machine.
    pub fn file(&self, name: &str) -> NamedTempFile {
        Self::file_of(&self.document(name))
    }

    /// Any file, on this machine.
    pub fn file_of(document: &Document) -> NamedTempFile {
        let file = NamedTempFile::with_suffix(".yaml").unwrap();
        std::fs::write(file.path(), document.text()).unwrap();
        file
    }

    /// The program, in the network of the API server, as this account.
    pub fn command(&self, account: &str, file: &NamedTempFile, arguments: &[&str]) -> Command {
        command(&self.api.kubeconfig(account).unwrap(), Some(file), arguments)
    }

    /// Runs it to its end.
    pub async fn run(&self, account: &str, file: &NamedTempFile, arguments: &[&str]) -> CliOutput {
        ended(self.command(account, file, arguments)).await
    }

    /// Runs it with this kubeconfig to its end.
    pub async fn run_by(&self, kubeconfig: &Path, file: &NamedTempFile, arguments: &[&str]) -> CliOutput {
        ended(command(kubeconfig, Some(file), arguments)).await
    }

    /// The dashboard on a free port.
    pub fn dashboard(&self, kubeconfig: &Path, file: &NamedTempFile) -> Child {
        command(kubeconfig, Some(file), &["dashboard", "--port", "0"]).spawn().unwrap()
    }

    /// Runs it without a file to its end.
    pub async fn run_without_file(&self, kubeconfig: &Path, arguments: &[&str]) -> CliOutput {
        ended(command(kubeconfig, None, arguments)).await
    }

    /// Deletes the keys of the gateway's namespace, which an `uninstall` leaves.
    pub async fn delete_keys(&self) {
        let ingress = format!("{}-ingress", self.namespace);
        let [keys, record_keys] = KEYS;
        self.api.kubectl(&["delete", "secret", keys, record_keys, "-n", &ingress]).await.unwrap();
    }

    /// Our existing objects, each with its version, without those that Kubernetes creates in every namespace and those
    /// of Helm.
    pub async fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::new();
        for object in self.objects().await {
            let text = |path: &str| object.pointer(path).unwrap().as_str().unwrap().to_owned();
            let name = format!("{} {}", text("/kind"), text("/metadata/name"));
            versions.insert(name, text("/metadata/resourceVersion"));
        }
        versions
    }

    pub async fn objects(&self) -> Vec<Value> {
        let ingress = format!("{}-ingress", self.namespace);
        let mut objects = objects_of(self.api, &[&self.namespace, &ingress], &KINDS).await;
        objects.retain(is_of_a_release);
        objects
    }
}

/// The objects of these kinds in these namespaces.
pub async fn objects_of(api: &Kubernetes, namespaces: &[&str], kinds: &[(&str, &str)]) -> Vec<Value> {
    let mut objects = Vec::new();
    for namespace in namespaces {
        for (group, plural) in kinds {
            objects.extend(api.list(&format!("/{group}/namespaces/{namespace}/{plural}")).await.unwrap());
        }
    }
    objects
}

/// A Gateway for all hosts.
fn gateway(namespace: &str) -> Value {
    let server = json!({"port": {"number": 80, "name": "http", "protocol": "HTTP"}, "hosts": ["*"]});
    json!({"apiVersion": "networking.istio.io/v1", "kind": "Gateway",
        "metadata": {"name": "gateway", "namespace": namespace},
        "spec": {"selector": {"istio": "gateway"}, "servers": [server]}})
}

fn command(kubeconfig: &Path, file: Option<&NamedTempFile>, arguments: &[&str]) -> Command {
    let mut command = Command::new(artifact::canary_ctl().unwrap());
    command.args(arguments).arg("--kubeconfig").arg(kubeconfig);
    command.args(file.into_iter().flat_map(|file| [OsStr::new("-f"), file.path().as_os_str()]));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

async fn ended(mut command: Command) -> CliOutput {
    let output = command.output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CliOutput {
        code: output.status.code().unwrap(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// The exit code and the output of a call.
pub struct CliOutput {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

fn is_of_a_release(object: &Value) -> bool {
    let name = object["metadata"]["name"].as_str().unwrap();
    name != "kube-root-ca.crt" && !name.starts_with("istio-ca-") && !name.starts_with("sh.helm.release.")
}

pub fn name(release: &Release) -> ReleaseName {
    release.name.clone()
}

/// Applies a release whose pods get no requests.
pub async fn apply(cluster: &Cluster, release: &Release) -> Result<Applied, Error> {
    apply_although(cluster, release, &WITHOUT_PODS).await
}

pub async fn apply_although(
    cluster: &Cluster,
    release: &Release,
    skipped: &[PreflightCheck],
) -> Result<Applied, Error> {
    let mut progress = |_, _| {};
    let waiting = WaitOptions { timeout: Duration::from_secs(5), progress: &mut progress };
    let options = ApplyOptions { waiting, wait: false, skipped, allow_rolled_back: false };
    Box::pin(cluster.apply(release, options)).await
}

pub async fn uninstall(cluster: &Cluster, release: &Release) -> Result<(), Error> {
    let stored = cluster.get_record(&release.name).await?;
    let mut progress = |_, _| {};
    let waiting = WaitOptions { timeout: Duration::from_secs(5), progress: &mut progress };
    let options = UninstallOptions { skipped: &PreflightCheck::ALL, waiting, alerts: LastAlerts::default() };
    Box::pin(cluster.uninstall(&release.name, stored, options)).await.map(drop)
}

/// A request for so many percent.
pub fn weight_request<'a>(share: &str, skipped: &'a [PreflightCheck]) -> WeightRequest<'a> {
    WeightRequest { weight: share.parse().unwrap(), expires_in: None, expected_generation: None, skipped }
}

/// Sets a weight with every check skipped.
pub async fn set_weight(
    cluster: &Cluster,
    release: &ReleaseName,
    stored: StoredRecord,
    share: &str,
) -> Result<WeightUpdate, Error> {
    let request = weight_request(share, &PreflightCheck::ALL);
    cluster.set_weight(cluster.check_weight(release, stored, request).await?).await
}

/// Promotes with every check skipped; the old version drains for a second.
pub async fn promote(
    cluster: &Cluster,
    release: &ReleaseName,
    stored: StoredRecord,
) -> Result<RoleChanged, Error> {
    let options = PromoteOptions { drain: Seconds::new(1), skipped: &PreflightCheck::ALL };
    let checked = cluster.check_promotion(release, stored, options).await?;
    let mut progress = |_, _| {};
    let mut waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut progress };
    Box::pin(cluster.promote(checked, &mut waiting, false)).await
}

/// The role changes of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Promote,
    /// The canary at once, a promotion with a deadline.
    RollBack,
    Finish,
}

/// Changes the roles as `canary-ctl promote`, `rollback` and `promote --finish` do, or continues an interrupted change.
pub async fn turn(cluster: &Cluster, release: &Release, verb: Verb) -> Result<RoleChanged, Error> {
    let stored = cluster.get_record(&release.name).await?;
    let mut progress = |_, _| {};
    let mut waiting = WaitOptions { timeout: Duration::from_mins(1), progress: &mut progress };
    let (name, skipped) = (&release.name, &PreflightCheck::ALL);
    match verb {
        Verb::Promote => {
            let options = PromoteOptions { drain: Some(Seconds::DAY), skipped };
            let checked = cluster.check_promotion(name, stored, options).await?;
            Box::pin(cluster.promote(checked, &mut waiting, true)).await
        }
        Verb::RollBack => {
            let options = RollbackOptions { now: false, drain: None, skipped };
            let checked = cluster.check_rollback(name, stored, options).await?;
            Box::pin(cluster.roll_back(checked, &mut waiting)).await
        }
        Verb::Finish => {
            Box::pin(cluster.finish(cluster.check_finish(name, stored, skipped)?, &mut waiting)).await
        }
    }
}

/// The message of this check's failure.
#[track_caller]
pub fn refused(by: PreflightCheck, done: &Result<impl std::fmt::Debug, Error>) -> String {
    match done {
        Err(Error::Preflight(CheckFailed { check, message, .. })) if *check == by => message.clone(),
        other => panic!("expected `{by}` to fail, found {other:?}"),
    }
}

/// What `canary-ctl weight` checks before it sets a share.
pub async fn check_weight(
    cluster: &Cluster,
    release: &Release,
    share: &str,
    skipped: &[PreflightCheck],
) -> Result<(), Error> {
    let stored = cluster.get_record(&release.name).await.unwrap();
    cluster.check_weight(&release.name, stored, weight_request(share, skipped)).await.map(drop)
}
