//! Reads and changes the cluster with the real `kubectl`.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Pod, Service};
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use tokio::time::sleep;

use super::binaries::Program;
use super::control_plane::Site;
use super::error::LabError;
use super::kubernetes::Kubernetes;
use super::space::on_thread;
use envoy_kit::{Sample, parse_samples};

/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(50);

impl Kubernetes {
    /// Where the lab's `kubectl` is.
    pub fn kubectl_path() -> Result<PathBuf, LabError> {
        Ok(Program::KUBECTL.path()?)
    }

    /// Runs `kubectl` as `admin` and returns what it prints.
    pub async fn kubectl(&self, arguments: &[&str]) -> Result<String, LabError> {
        self.kubectl_as("admin", arguments, "").await
    }

    /// Runs `kubectl` as this account, with this input.
    pub async fn kubectl_as(
        &self,
        account: &str,
        arguments: &[&str],
        input: &str,
    ) -> Result<String, LabError> {
        let mut command = Command::new(Program::KUBECTL.path()?);
        command.args(arguments).env("KUBECONFIG", self.kubeconfig(account)?);
        self.output_of(command, format!("kubectl {}", arguments.join(" ")), input).await
    }

    /// Runs a program among the lab's processes and returns what it prints; `line` is the command line for messages.
    pub(super) async fn output_of(
        &self,
        command: Command,
        line: String,
        input: &str,
    ) -> Result<String, LabError> {
        let (input, site) = (input.to_owned(), self.site());
        let run = tokio::task::spawn_blocking(move || output(&site, command, &input)).await;
        let output = run.map_err(std::io::Error::other).and_then(|output| output);
        let output = output.map_err(LabError::system(line.clone()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(LabError::Command { command: line, output: String::from_utf8_lossy(&output.stderr).into_owned() })
    }

    /// `kubectl apply --server-side`.
    pub async fn apply(&self, manifests: &str) -> Result<String, LabError> {
        self.kubectl_as("admin", &["apply", "--server-side", "-f", "-"], manifests).await
    }

    /// `kubectl delete`, of existing objects.
    pub async fn delete(&self, manifests: &str) -> Result<String, LabError> {
        self.kubectl_as("admin", &["delete", "--ignore-not-found", "-f", "-"], manifests).await
    }

    /// Waits until a Deployment (`deployment/shop-v1`) is rolled out.
    pub async fn rolled_out(&self, namespace: &str, what: &str) -> Result<(), LabError> {
        let start = Instant::now();
        let timeout = format!("--timeout={}s", DEADLINE.as_secs());
        let status = self.kubectl(&["rollout", "status", "-n", namespace, what, &timeout]).await;
        status.map(drop).map_err(|error| LabError::Timeout {
            what: format!("{what} in {namespace}"),
            after: start.elapsed(),
            found: error.to_string(),
            logs: self.log_tails(&format!("{namespace}.")) + &self.control_plane_logs(),
        })
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
        Ok(parse_samples(&self.kubectl(&["get", "--raw", &path]).await?))
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
        self.scale_istiod(0).await?;
        let gone = async || {
            self.pods(super::istio::SYSTEM, "app=istiod")
                .await
                .is_ok_and(|pods| pods.is_empty())
                .then_some(())
        };
        self.until("the end of istiod", gone).await
    }

    /// Brings istiod back, and returns when it is ready.
    pub async fn start_istiod(&self) -> Result<(), LabError> {
        self.scale_istiod(1).await?;
        self.rolled_out(super::istio::SYSTEM, "deployment/istiod").await
    }

    async fn scale_istiod(&self, replicas: u8) -> Result<(), LabError> {
        let replicas = format!("--replicas={replicas}");
        self.kubectl(&["scale", "-n", super::istio::SYSTEM, "deployment/istiod", &replicas]).await.map(drop)
    }
}

/// Runs it among the lab's processes, so that it ends with them.
fn output(site: &Site, mut command: Command, input: &str) -> std::io::Result<std::process::Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = on_thread(|| {
        site.network.enter()?;
        site.processes.enter()?;
        command.spawn()
    })??;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    child.wait_with_output()
}
