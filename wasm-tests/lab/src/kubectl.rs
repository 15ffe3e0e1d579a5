//! Reads and changes the cluster with the real `kubectl`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::binaries::Program;
use super::control_plane::Site;
use super::error::LabError;
use super::kubernetes::Kubernetes;
use super::space::on_thread;

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
