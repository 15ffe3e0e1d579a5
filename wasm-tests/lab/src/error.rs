//! What can go wrong in the lab. Errors contain the end of the log that explains them, because the lab's folder is
//! deleted later.

use std::io;
use std::time::Duration;

use programs::artifact::MissingArtifact;

/// Why the lab, or something in it, is not there.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A program or a file has not been built.
    #[error(transparent)]
    Missing(#[from] MissingArtifact),
    /// The kernel or the file system refused.
    #[error("cannot {what}: {source}{}", hint(source))]
    System { what: String, source: io::Error },
    /// A command ended with an error.
    #[error("{command} failed: {output}")]
    Command {
        command: String,
        /// What it printed.
        output: String,
    },
    /// Something did not happen in time.
    #[error("waited {after:?} for {what}; found: {found}\n{logs}")]
    Timeout {
        /// What was waited for.
        what: String,
        after: Duration,
        /// What was there instead.
        found: String,
        /// The ends of the logs that may say why.
        logs: String,
    },
    /// The API server refused, or could not be reached.
    #[error("kubernetes: {0}")]
    Kubernetes(Box<kube::Error>),
    /// A name or a text that the lab was given means nothing.
    #[error("{what}: expected {expected}, found {found:?}")]
    Unexpected {
        what: &'static str,
        /// What would do.
        expected: &'static str,
        found: String,
    },
}

impl LabError {
    /// An error of the system, with what was tried.
    pub fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}

impl From<kube::Error> for LabError {
    fn from(error: kube::Error) -> Self {
        Self::Kubernetes(Box::new(error))
    }
}

/// A hint if the rights for namespaces and mounts are missing.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            ", hint: the lab needs root (in a container: CAP_SYS_ADMIN and CAP_NET_ADMIN)"
        }
        _ => "",
    }
}
