//! What a person can do about an error or a problem, in commands, flags and settings. The libraries report both as data;
//! a controller acts on the data.
//!
//! ```text
//! file      a file that is no release, keys, configurations and manifests  spec, config, manifest
//! survey    a cluster that no release can be derived from                  discover
//! plan      why there is no plan                                           plan, destination_rule, routing
//! command   a command for people to copy, with names as words of it
//! check     preflight checks and what to do instead of skipping them       preflight, routing
//! status    what is wrong with a release                                   status
//! cluster   why an operation failed                                        canary-operations
//! rollout   what a rollout was asked and cannot do                          rollout
//! doctor    what is wrong with a release and its cluster                   doctor
//! rights    rights that are missing, and the command that prints them      rbac
//! train     releases that cannot be promoted in one go                    train
//! adopt     a running Deployment that does not get the version label      plan
//! twin      a chart that two versions cannot have beside each other      helm-twins
//! next_step what comes next in the usual course of a release               status
//! ```

mod adopt;
mod check;
mod cluster;
mod command;
mod doctor;
mod file;
mod import;
mod next_step;
mod plan;
mod rights;
mod rollout;
mod status;
mod survey;
mod train;
mod twin;

pub(crate) use check::alternative_to;
pub(crate) use command::ShellCommand;
pub(crate) use import::move_command;
pub use rights::{missing_rights, printed_for};
pub use status::CALLS_OF_AMBIENT_PODS;

/// The remedy for a person.
pub trait Hint {
    /// A hint: what the user can change. `None` if the text itself says it, or if nothing helps.
    fn hint(&self) -> Option<String>;
}
