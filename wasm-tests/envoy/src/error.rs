//! Why an Envoy is not there or does not answer.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use browser::ClientError;
use programs::artifact::MissingArtifact;

/// What went wrong with an Envoy.
#[derive(Debug, thiserror::Error)]
pub enum EnvoyError {
    /// It is not installed.
    #[error(transparent)]
    Missing(#[from] MissingArtifact),
    /// The process or its log file could not be made.
    #[error("cannot start {}: {source}", binary.display())]
    Start { binary: PathBuf, source: std::io::Error },
    /// It ended by itself, usually because of its configuration.
    #[error("envoy ended with {status} before it was ready; the end of its log:\n{log}")]
    Ended {
        /// How it ended.
        status: std::process::ExitStatus,
        /// Its last lines.
        log: String,
    },
    /// The deadline passed.
    #[error("envoy was not ready within {waited:?}; the end of its log:\n{log}")]
    NotReady {
        /// How long it had.
        waited: Duration,
        /// Its last lines.
        log: String,
    },
    #[error("the admin interface at {address} answered {status} to {path}: {body}")]
    Admin {
        address: SocketAddr,
        /// HTTP status.
        status: u16,
        /// What was asked.
        path: String,
        body: String,
    },
    /// The admin interface could not be reached.
    #[error("cannot ask the admin interface: {0}")]
    Unreachable(#[from] ClientError),
    /// The admin interface answered something that is no JSON.
    #[error("the admin interface answered no json to {path}: {source}")]
    Json {
        /// What was asked.
        path: String,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A statistic did not get where it should.
    #[error("{name} was {found} after {waited:?}, expected at least {expected}")]
    Statistic {
        /// The statistic.
        name: String,
        /// Its last value.
        found: u64,
        /// How long it had.
        waited: Duration,
        /// The expected value.
        expected: u64,
    },
}
