//! `canary-ctl module`: files that are never half written, and web servers that lose, lie and redirect.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test whose folder or server is not as it has to be cannot go on"
)]

mod save;
mod verify;

use canary_release::ModuleDigest;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A folder for one test.
pub(crate) struct ModuleFixture {
    folder: TempDir,
}

/// What a call printed, and its exit code.
#[derive(Debug)]
pub(crate) struct CallOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl ModuleFixture {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Runs `canary-ctl module` with the words of a line.
    pub(crate) fn run(&self, line: &str) -> CallOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_canary-ctl"));
        command.arg("module").args(line.split(' ')).current_dir(self.folder.path()).env("NO_COLOR", "1");
        let output = command.output().unwrap();
        CallOutput {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The module of the tool.
    pub(crate) fn module(&self) -> Vec<u8> {
        let ran = self.run("save module-of-the-tool.wasm");
        assert_eq!(ran.code, 0, "`./x wasm` makes the module that the tool carries: {ran:?}");
        std::fs::read(self.path("module-of-the-tool.wasm")).unwrap()
    }
}

impl CallOutput {
    /// Ended with this exit code, and has printed these parts.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, parts: &[&str]) {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert_eq!(self.code, code, "{all}");
        for part in parts {
            assert!(all.contains(part), "expected `{part}`, found {all}");
        }
    }
}

/// `sha256:` and the digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", ModuleDigest::of(bytes).sha256)
}
