//! Runs `canary-ctl` as a program, so that the demo shows what a user types and reads.

use crate::error::Error;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;

/// `canary-ctl` in the folder of the demo's canary.yaml.
#[derive(Clone, Debug)]
pub(crate) struct CanaryCtl {
    pub(crate) program: PathBuf,
    /// Where it runs.
    pub(crate) folder: PathBuf,
}

impl CanaryCtl {
    /// Runs it and returns its stdout.
    ///
    /// # Errors
    /// With its stderr, where it does not exit with 0.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<String, Error> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null()).kill_on_drop(true);
        let output = command
            .output()
            .await
            .map_err(|source| Error::Process { program: "canary-ctl".to_owned(), source })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::CanaryCtl { command: arguments.join(" "), message })
    }

    /// Runs it with `-o json` and returns its stdout as JSON.
    ///
    /// # Errors
    /// Those of [`CanaryCtl::run`], and where the output is not JSON.
    pub(crate) async fn run_json(&self, arguments: &[&str]) -> Result<serde_json::Value, Error> {
        let text = self.run(&[arguments, &["-o", "json"]].concat()).await?;
        serde_json::from_str(&text).map_err(|error| Error::CanaryCtl {
            command: arguments.join(" "),
            message: format!("expected JSON, found {text:?}: {error}"),
        })
    }
}
