//! Why no figures could be made.

use browser::ClientError;
use envoy_kit::EnvoyError;
use programs::artifact::MissingArtifact;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// A file that the benchmark needs was not built.
    #[error(transparent)]
    Missing(#[from] MissingArtifact),
    /// An Envoy did not start or does not answer.
    #[error(transparent)]
    Envoy(#[from] EnvoyError),
    /// A request could not be sent.
    #[error("a single request failed")]
    Client(#[from] ClientError),
    /// The local target's files could not be made.
    #[error("the files of a local envoy could not be made")]
    Local(#[from] canary_ctl::local::Error),
    #[error("the configuration of the filter could not be made")]
    Config(#[from] canary_release::config::Error),
    /// The benchmark's own release is not accepted.
    #[error("the benchmark's release is not accepted")]
    Spec(#[from] canary_release::file::Error),
    /// A template has another shape than this program expects.
    #[error("the bootstrap's template has another shape")]
    Template(#[from] placed_yaml::EditError),
    /// The keys do not sign.
    #[error("expected a key that signs `{0}`, found none")]
    Unsigned(&'static str),
    /// A file could not be read or written.
    #[error("cannot read or write {}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// A program could not be started.
    #[error("cannot run `{program}`, hint: apt-get install {package}")]
    Program {
        program: &'static str,
        /// What brings it.
        package: &'static str,
        source: std::io::Error,
    },
    /// A program's output has another form than expected.
    #[error("expected {expected} from `{program}`, found:\n{found}")]
    Output {
        program: &'static str,
        /// What it should say.
        expected: &'static str,
        found: String,
    },
    /// A contender does not do what it is measured for.
    #[error("`{contender}` does something else than it is measured for: expected {expected}, found {found}")]
    OtherPath {
        contender: String,
        /// What it should do.
        expected: String,
        /// What it did.
        found: String,
    },
    /// The machine cannot keep load and proxy apart.
    #[error("expected at least 2 cores, one for envoy and one for the load, found {0}")]
    Cores(usize),
    /// The figures are too few to take a median of.
    #[error("no figures for `{0}`")]
    NoFigures(&'static str),
}

/// For `map_err`: names the file.
pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> BenchError {
    let path = path.to_owned();
    move |source| BenchError::File { path, source }
}

/// The error and what caused it, in one line each.
pub(crate) fn with_causes(error: &BenchError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  because: {error}");
        cause = error.source();
    }
    text
}
