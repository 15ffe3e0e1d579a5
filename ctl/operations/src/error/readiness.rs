//! Why a version does not get ready.

use canary_release::format::seconds;
use canary_release::plan::VersionLabel;
use canary_release::status::ReadinessFailure;
use std::time::Duration;

/// The reason for which a version is not ready.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadinessError {
    /// Its pods cannot get ready by themselves.
    #[error(
        "the pods with {label} do not get ready: {failure}{}{}",
        listed("last output", log),
        listed("warnings", warnings)
    )]
    Failed {
        label: VersionLabel,
        failure: ReadinessFailure,
        /// The last lines of the container's log; none if it may not be read.
        log: Vec<String>,
        /// The latest warnings about the pod, the last one first; none where they may not be read.
        warnings: Vec<String>,
    },
    /// Its pods are not ready in time.
    #[error("{ready} of {wanted} pods with {label} are ready after {}{}", seconds(*waited), listed("not ready", reasons))]
    Late {
        label: VersionLabel,
        /// The pods that are ready.
        ready: u64,
        /// The pods that are wanted.
        wanted: u64,
        /// The reasons of the wait.
        reasons: Vec<String>,
        /// The time of the wait.
        waited: Duration,
    },
}

/// Lines under a title; nothing without lines.
fn listed(title: &str, lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n{title}:\n  {}", lines.join("\n  ")) }
}
