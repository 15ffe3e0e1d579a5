//! The terminal of a person, and the pages that they read.

use fake_api_server::FakeApi;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A page of `docs/`.
pub(crate) struct Page(String);

impl Page {
    pub(crate) fn open(name: &str) -> Self {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        Self(std::fs::read_to_string(docs.join(name)).unwrap())
    }

    /// The first block of a language below a heading.
    pub(crate) fn block(&self, heading: &str, language: &str) -> String {
        let heading = format!("\n## {heading}\n");
        let (_, below) = self.0.split_once(&heading).unwrap_or_else(|| panic!("no heading {heading:?}"));
        let section = below.split("\n## ").next().unwrap();
        let block = section.split(&format!("```{language}\n")).nth(1);
        let block = block.unwrap_or_else(|| panic!("no `{language}` below {heading:?}"));
        block.split("```").next().unwrap().to_owned()
    }

    /// The commands of the tool in the cells of tables below a heading.
    pub(crate) fn cells(&self, heading: &str) -> Vec<String> {
        let (_, below) = self.0.split_once(&format!("\n## {heading}\n")).unwrap();
        let rows = below.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with('|'));
        let spans = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
        spans.filter(|span| span.starts_with("canary-ctl ")).map(str::to_owned).collect()
    }
}

/// A folder, a kubeconfig, and the tool on the `PATH`.
pub(crate) struct Terminal {
    folder: TempDir,
}

impl Terminal {
    pub(crate) async fn new(api: &FakeApi) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("kubeconfig"), api.kubeconfig().await).unwrap();
        Self { folder }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Types one line of a page; the result is what it has printed, messages included.
    pub(crate) fn types(&self, line: &str) -> String {
        let (succeeds, printed) = self.ends(line);
        assert!(succeeds, "{line}\n{printed}");
        printed
    }

    /// The same of a line that is refused.
    pub(crate) fn refused(&self, line: &str) -> String {
        let (succeeds, printed) = self.ends(line);
        assert!(!succeeds, "{line}\n{printed}");
        printed
    }

    /// Whether a line succeeds, and what it prints.
    fn ends(&self, line: &str) -> (bool, String) {
        let tool = Path::new(env!("CARGO_BIN_EXE_canary-ctl")).parent().unwrap();
        let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-ec", &format!("{line} 2>&1")]).current_dir(self.folder.path());
        shell.env("PATH", path).env("HOME", self.folder.path()).env("NO_COLOR", "1");
        shell.env("KUBECONFIG", self.folder.path().join("kubeconfig")).env_remove("CANARY_CTL_SIGNING_KEYS");
        let output = shell.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    /// Types the lines of a block that call the tool, one after the other.
    pub(crate) fn types_all(&self, block: &str) -> Vec<String> {
        block.lines().filter(|line| line.starts_with("canary-ctl ")).map(|line| self.types(line)).collect()
    }
}
