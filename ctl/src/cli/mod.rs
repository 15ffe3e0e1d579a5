//! What the command line may say, as clap types: one file for each verb. Nothing is done here.

mod common;
mod completions;
mod lint;

pub use common::{Output, SpecFile};
pub use completions::Completions;
pub use lint::Lint;

use clap::{Parser, Subcommand};

/// Moves users, not requests, to a new version: sticky canary releases on Istio and Envoy.
#[derive(Clone, Debug, Parser)]
#[command(name = "canary-ctl", version, about, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 a valid no (faults found, a check failed), 2 could not do it, 130 interrupted."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What `canary-ctl` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum Verb {
    /// Say what is dangerous in a release.
    Lint(Lint),
    /// Print a completion script for a shell.
    Completions(Completions),
}
