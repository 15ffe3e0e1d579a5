//! Why the demo could not run, and what to do about it.

use canary_ctl::outcome;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Why the demo could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A program or module is missing.
    #[error("cannot find {what}: tried {}", tried.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Missing {
        /// What was searched.
        what: &'static str,
        tried: Vec<PathBuf>,
        /// The argument that names it.
        argument: &'static str,
    },
    /// A child process could not be started.
    #[error("cannot run {program}")]
    Process { program: String, source: std::io::Error },
    /// A child process ended, or was not ready in time.
    #[error("{program} {problem}; the end of its log:\n{log}")]
    NotReady {
        program: &'static str,
        /// `ended with …`, `was not ready after …`.
        problem: String,
        /// Its last lines.
        log: String,
    },
    #[error("`canary-ctl {command}` failed: {message}")]
    CanaryCtl {
        /// Its arguments.
        command: String,
        /// Its stderr, or what is wrong with its stdout.
        message: String,
    },
    /// No free port, or no directory.
    #[error("cannot create {0}")]
    Create(&'static str, #[source] std::io::Error),
    /// Not all of the shoppers that were expected had a first response in time.
    #[error("waited {} for {expected} shoppers, found {found}", canary_release::format::seconds(*waited))]
    Late {
        waited: Duration,
        /// How many were expected.
        expected: u64,
        /// How many had a response.
        found: u64,
    },
    /// Envoy does not report a metric that the checks need.
    #[error("Envoy has no metric `{0}`")]
    Metric(&'static str),
    /// The local target failed.
    #[error(transparent)]
    Local(#[from] canary_ctl::local::Error),
    /// The embedded canary.yaml does not have the fields that are set in it.
    #[error("cannot fill in canary.yaml")]
    Template(#[from] placed_yaml::EditError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] canary_ctl::report::Error),
    /// The runtime of the process could not start.
    #[error("cannot start")]
    Runtime(#[source] std::io::Error),
    /// Ctrl-C, or another signal that ends a process.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// What a person can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { argument, .. } => Some(format!(
                "run: ./x demo (it builds and gets everything), or give its path with `{argument}`"
            )),
            Self::Late { .. } => {
                Some("the machine is too busy: give a smaller number with `--users`".to_owned())
            }
            Self::Local(error) => error.hint(),
            _ => None,
        }
    }

    /// 2 could not run, 130 interrupted.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted => ExitCode::from(outcome::INTERRUPTED),
            _ => ExitCode::from(outcome::COULD_NOT),
        }
    }
}
