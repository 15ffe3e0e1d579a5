//! Installs charts on the cluster with the real `helm`.

use std::path::PathBuf;
use std::process::Command;

use programs::artifact;

use super::binaries::Program;
use super::error::LabError;
use super::kubernetes::Kubernetes;

/// Which Helm: 3 applies client-side, 4 server-side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helm {
    /// Helm 3.
    Three,
    /// Helm 4.
    Four,
}

impl Helm {
    /// Where the program is.
    pub fn path(self) -> Result<PathBuf, LabError> {
        let program = match self {
            Self::Three => Program::HELM_3,
            Self::Four => Program::HELM_4,
        };
        Ok(program.path()?)
    }
}

impl Kubernetes {
    /// Runs `helm` as `admin` and returns what it prints.
    pub async fn helm(&self, helm: Helm, arguments: &[&str]) -> Result<String, LabError> {
        let mut command = Command::new(helm.path()?);
        command.args(arguments).env("KUBECONFIG", self.kubeconfig("admin")?);
        // Its plugins run `canary-ctl`.
        if let Some(folder) = artifact::canary_ctl()?.parent() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
            let path = std::env::join_paths(folders).map_err(std::io::Error::other);
            command.env("PATH", path.map_err(LabError::system("extend the PATH"))?);
        }
        // Not the plugins, repositories and caches of the user who runs the tests.
        for place in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(place, self.logs().join("helm"));
        }
        self.output_of(command, format!("helm {}", arguments.join(" ")), "").await
    }
}
