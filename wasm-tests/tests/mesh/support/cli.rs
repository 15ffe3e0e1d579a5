//! The program on its command line.

use mesh_lab::Lab;
use programs::artifact;
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::{Child, Command};
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
        Self::through(document, lab.kubeconfig(user).unwrap())
    }

    /// The same, as this kubeconfig says.
    pub(crate) fn through(document: &Document, kubeconfig: PathBuf) -> Self {
        let cli = Self { folder: tempfile::tempdir().unwrap(), kubeconfig };
        cli.edits(document);
        cli
    }

    /// Replaces the `canary.yaml`.
    pub(crate) fn edits(&self, document: &Document) {
        std::fs::write(self.folder.path().join("canary.yaml"), document.text()).unwrap();
    }

    /// The text of a file of its folder.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Runs `canary-ctl` with these arguments.
    pub(crate) async fn run(&self, line: &str) -> Output {
        let output = self.command(line).output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Output { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Starts `canary-ctl`, for a test that ends it. What it prints is dropped.
    pub(crate) fn spawn(&self, line: &str) -> Child {
        self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// The same for a test that reads what it prints.
    pub(crate) fn serve(&self, line: &str) -> Child {
        self.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(artifact::canary_ctl().unwrap());
        command.args(line.split(' ')).current_dir(self.folder.path()).env("KUBECONFIG", &self.kubeconfig);
        command.kill_on_drop(true);
        command
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
