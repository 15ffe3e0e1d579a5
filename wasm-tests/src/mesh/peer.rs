//! The controllers of Flagger and Argo Rollouts beside the lab's cluster.

use std::path::PathBuf;
use std::process::Command;

use envoy_kit::free_ports;
use mesh_lab::{Lab, LabError};
use programs::artifact::{self, MissingArtifact};
use programs::child::LoggedChild;

/// A running controller with its kinds. It ends with the value.
#[derive(Debug)]
pub struct PeerController(LoggedChild);

impl PeerController {
    /// Flagger for Istio; `metrics_server` is the address of a Prometheus.
    ///
    /// # Errors
    ///
    /// It has not been built, or the lab refuses its kinds.
    pub async fn flagger(lab: &Lab, metrics_server: &str) -> Result<Self, LabError> {
        let [port] = free_ports();
        let mut command = Command::new(artifact::peer("Flagger", "bin/flagger")?);
        command
            .arg(format!("-kubeconfig={}", lab.kubeconfig("admin")?.display()))
            .arg(format!("-metrics-server={metrics_server}"))
            .arg(format!("-port={port}"))
            .args(["-mesh-provider=istio", "-log-level=info"]);
        let kinds = artifact::peer("the kinds of Flagger", "flagger-crds.yaml");
        Self::start(lab, "Flagger", kinds, &mut command).await
    }

    /// Argo Rollouts.
    ///
    /// # Errors
    ///
    /// It has not been built, or the lab refuses its kinds.
    pub async fn argo_rollouts(lab: &Lab) -> Result<Self, LabError> {
        let [metrics, health] = free_ports();
        let mut command = Command::new(artifact::peer("Argo Rollouts", "bin/argo-rollouts")?);
        command
            .arg(format!("--kubeconfig={}", lab.kubeconfig("admin")?.display()))
            .args([format!("--metricsPort={metrics}"), format!("--healthzPort={health}")])
            .arg("--leader-elect=false");
        let kinds = artifact::peer("the kinds of Argo Rollouts", "argo-rollouts-crds.yaml");
        Self::start(lab, "Argo Rollouts", kinds, &mut command).await
    }

    async fn start(
        lab: &Lab,
        name: &'static str,
        kinds: Result<PathBuf, MissingArtifact>,
        command: &mut Command,
    ) -> Result<Self, LabError> {
        let kinds = kinds?.display().to_string();
        // YAML 1.1, which Go's libraries read.
        lab.kubectl(&["apply", "--server-side", "-f", &kinds]).await?;
        lab.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]).await?;
        Ok(Self(LoggedChild::start(name, command).map_err(LabError::system(format!("start {name}")))?))
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        self.0.log()
    }

    /// The end of its log, for a message.
    pub fn log_tail(&self) -> String {
        self.0.log_tail()
    }
}
