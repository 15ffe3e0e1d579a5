//! The program on its command line.

use mesh_lab::Lab;
use programs::artifact;
use std::path::PathBuf;
use tempfile::TempDir;
use tokio::process::Command;
use wasm_tests::scenario::Document;

/// `canary-ctl` in a folder with a `canary.yaml`.
pub(crate) struct Cli {
    folder: TempDir,
    kubeconfig: PathBuf,
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Cli {
    /// As an operator with all rights.
    pub(crate) fn new(lab: &Lab, document: &Document) -> Self {
        Self::of(lab, document, "admin")
    }

    /// The same, as another user.
    pub(crate) fn of(lab: &Lab, document: &Document, user: &str) -> Self {
        let cli = Self { folder: tempfile::tempdir().unwrap(), kubeconfig: lab.kubeconfig(user).unwrap() };
        cli.edits(document);
        cli
    }

    /// Replaces the `canary.yaml`.
    pub(crate) fn edits(&self, document: &Document) {
        std::fs::write(self.folder.path().join("canary.yaml"), document.text()).unwrap();
    }

    /// Runs `canary-ctl` with these arguments.
    pub(crate) async fn run(&self, line: &str) -> Output {
        let mut command = Command::new(artifact::canary_ctl().unwrap());
        command.args(line.split(' ')).current_dir(self.folder.path()).env("KUBECONFIG", &self.kubeconfig);
        let output = command.kill_on_drop(true).output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Output { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The same; fails unless it ends with this exit code and prints these parts.
    pub(crate) async fn expect(&self, line: &str, code: i32, parts: &[&str]) -> Output {
        let output = self.run(line).await;
        let all = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code, Some(code), "{line}: {all}");
        for part in parts {
            assert!(all.contains(part), "{line}: expected `{part}` in {all}");
        }
        output
    }
}
