//! Why there is no demo, and what to do about it.

use std::path::PathBuf;
use std::time::Duration;

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program or module is not there.
    #[error("cannot find {what}: looked at {}", looked_at.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Missing {
        /// What was looked for.
        what: &'static str,
        /// Where.
        looked_at: Vec<PathBuf>,
        /// The argument that names it.
        argument: &'static str,
    },
    /// A child process cannot be started or waited for.
    #[error("cannot run {program}")]
    Process {
        /// The program.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A child process ended, or was not ready in time.
    #[error("{program} {what}; the end of its log:\n{log}")]
    NotReady {
        /// The program.
        program: String,
        /// `ended with …`, `was not ready after …`.
        what: String,
        /// Its last lines.
        log: String,
    },
    /// `canary-ctl` itself refused something.
    #[error("`canary-ctl {command}` failed: {said}")]
    Tool {
        /// Its arguments.
        command: String,
        /// What it said.
        said: String,
    },
    /// No free port, or no directory.
    #[error("cannot make {0}")]
    Make(&'static str, #[source] std::io::Error),
    /// The shoppers that were expected did not all come.
    #[error("waited {} for {expected} shoppers, found {found}", crate::report::seconds(*waited))]
    Late {
        /// How long.
        waited: Duration,
        /// How many were expected.
        expected: u64,
        /// How many came.
        found: u64,
    },
    /// The local target refused.
    #[error(transparent)]
    Local(#[from] crate::local::Error),
    /// The written canary.yaml cannot be read back.
    #[error(transparent)]
    Spec(#[from] crate::spec::Error),
    /// The embedded canary.yaml has not the shape that its code expects.
    #[error("cannot fill in canary.yaml")]
    Template(#[from] crate::yaml::EditError),
    /// A request that cannot be made.
    #[error("cannot make a request")]
    Request(#[from] hyper::http::Error),
    /// The screen cannot be written to.
    #[error(transparent)]
    Screen(#[from] crate::report::Error),
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { argument, .. } => {
                Some(format!("run: ./x demo (it builds and gets everything), or name one with `{argument}`"))
            }
            Self::Late { .. } => Some("the machine is too busy: ask for fewer `--users`".to_owned()),
            Self::Local(error) => error.hint(),
            Self::Spec(error) => error.hint(),
            _ => None,
        }
    }
}
