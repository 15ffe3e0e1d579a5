//! A release for the local target in a directory of its own, and the tool run in it. No Envoy is needed.

#![expect(clippy::unwrap_used, reason = "a test's helper: a panic is its failure")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) struct Directory(TempDir);

impl Directory {
    /// With a `canary.yaml` of this `override`, its files generated.
    pub(crate) fn generated(overrides: &str) -> Self {
        let directory = Self::written(overrides);
        let generated = directory.run(&["generate"]);
        assert!(generated.status.success(), "{}", stderr(&generated));
        directory
    }

    /// With a `canary.yaml` only.
    pub(crate) fn written(overrides: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("filter.wasm"), b"\0asm").unwrap();
        let spec = format!(
            "apiVersion: canary-ctl.io/v1alpha1\nkind: Release\nmetadata: {{name: shop, namespace: shop}}\nspec:\n  \
             service: {{name: shop, port: 80}}\n  versions: {{stable: v1, canary: v2}}\n  hosts: [shop.example.com]\n  \
             stickiness: user\n  identifyBy: [{{cookie: JSESSIONID}}]\n  weight: 20\n  override: {overrides}\n  \
             cookies: {{tls: false}}\n  delivery:\n    mode: local\n    module: filter.wasm\n    local:\n      \
             directory: state\n      listen: 127.0.0.1:1\n      admin: 127.0.0.1:1\n      \
             endpoints: {{v1: [127.0.0.1:1], v2: [127.0.0.1:1]}}\n"
        );
        std::fs::write(directory.path().join("canary.yaml"), spec).unwrap();
        Self(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the tool here, with nothing on stdin.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_canary-ctl"));
        command.current_dir(self.path()).args(arguments).stdin(Stdio::null()).output().unwrap()
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The JSON on stdout.
pub(crate) fn json(output: &Output) -> Value {
    let parsed = serde_json::from_slice(&output.stdout);
    assert!(parsed.is_ok(), "{}{}", stdout(output), stderr(output));
    parsed.unwrap()
}
