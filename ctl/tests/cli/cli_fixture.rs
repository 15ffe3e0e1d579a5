//! Runs the binary in a folder of its own and compares its whole output.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder for one test, deleted with it.
pub(crate) struct CliFixture {
    folder: tempfile::TempDir,
}

/// The exit code and the output of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CliOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CliFixture {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `canary-ctl` with the words of a line.
    pub(crate) fn run(&self, line: &str) -> CliOutput {
        self.run_words(&line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>())
    }

    /// Runs `canary-ctl` with the words of a line, and a text on stdin.
    pub(crate) fn run_with_stdin(&self, line: &str, text: &str) -> CliOutput {
        self.write("stdin", text);
        let stdin = std::fs::File::open(self.path("stdin")).unwrap();
        Self::output(self.command(&line.split(' ').collect::<Vec<_>>()).stdin(stdin))
    }

    /// Runs `canary-ctl` with these words, which may contain white space.
    pub(crate) fn run_words(&self, words: &[impl AsRef<std::ffi::OsStr>]) -> CliOutput {
        Self::output(&mut self.command(words))
    }

    pub(crate) fn command(&self, words: &[impl AsRef<std::ffi::OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_canary-ctl"));
        command.args(words).current_dir(self.folder.path());
        command.env_remove("CANARY_CTL_SIGNING_KEYS").env("NO_COLOR", "1");
        command
            .env_remove("KUBECONFIG")
            .env_remove("KUBERNETES_SERVICE_HOST")
            .env("HOME", self.folder.path());
        command
    }

    fn output(command: &mut Command) -> CliOutput {
        let output = command.output().unwrap();
        CliOutput {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl CliOutput {
    /// Done, with this on stdout and this on stderr.
    #[track_caller]
    pub(crate) fn expect_output(&self, code: i32, stdout: &str, stderr: &str) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (code, stdout, stderr));
    }
}

/// A file of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Compares with a file of `tests/golden`; `UPDATE_GOLDEN=1` writes it instead, to be read in the diff.
#[track_caller]
pub(crate) fn golden(name: &str, text: &str) {
    let path = repository("ctl/tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; UPDATE_GOLDEN=1 writes it");
}
