//! An operator at a terminal: the program, as people type it, with a `canary.yaml`.

use std::path::PathBuf;
use tempfile::TempDir;
use tokio::process::Command;
use wasm_tests::artifact;
use wasm_tests::lab::Lab;
use wasm_tests::scenario::Document;

/// Somebody with all rights, and a folder.
pub(super) struct Operator {
    folder: TempDir,
    kubeconfig: PathBuf,
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) data: String,
    pub(super) told: String,
}

impl Operator {
    pub(super) fn new(lab: &Lab, document: &Document) -> Self {
        let operator =
            Self { folder: tempfile::tempdir().unwrap(), kubeconfig: lab.kubeconfig("admin").unwrap() };
        operator.edits(document);
        operator
    }

    /// Puts something else into the file.
    pub(super) fn edits(&self, document: &Document) {
        std::fs::write(self.folder.path().join("canary.yaml"), document.text()).unwrap();
    }

    /// Runs `canary-ctl` with these words.
    pub(super) async fn types(&self, line: &str) -> Said {
        let mut command = Command::new(artifact::canary_ctl().unwrap());
        command.args(line.split(' ')).current_dir(self.folder.path()).env("KUBECONFIG", &self.kubeconfig);
        let output = command.kill_on_drop(true).output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code(), data: text(&output.stdout), told: text(&output.stderr) }
    }

    /// The same, expecting this exit code and these parts of what is printed.
    pub(super) async fn is_told(&self, line: &str, code: i32, parts: &[&str]) -> Said {
        let said = self.types(line).await;
        let all = format!("{}{}", said.data, said.told);
        assert_eq!(said.code, Some(code), "{line}: {all}");
        for part in parts {
            assert!(all.contains(part), "{line}: expected `{part}` in {all}");
        }
        said
    }
}
