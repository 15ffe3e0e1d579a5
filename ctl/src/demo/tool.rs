//! Runs `canary-ctl` itself, so that what is shown is what a user types and reads.

use super::Error;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;

/// `canary-ctl` in the folder of the demo's canary.yaml.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
}

impl Tool {
    /// Runs it and gives its stdout. Fails with its stderr where it does.
    pub(super) async fn run(&self, arguments: &[&str]) -> Result<String, Error> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null()).kill_on_drop(true);
        let output = command
            .output()
            .await
            .map_err(|source| Error::Process { program: "canary-ctl".to_owned(), source })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::Tool { command: arguments.join(" "), said })
    }

    /// The same with its result as JSON. Fails also where it is none.
    pub(super) async fn ask(&self, arguments: &[&str]) -> Result<serde_json::Value, Error> {
        let text = self.run(&[arguments, &["-o", "json"]].concat()).await?;
        serde_json::from_str(&text).map_err(|error| Error::Tool {
            command: arguments.join(" "),
            said: format!("expected JSON, found {text:?}: {error}"),
        })
    }
}
