//! What verbs are told that write several objects and wait between them.

use canary_release::spec::Seconds;
use clap::{Args, ValueEnum};

/// Whether to write, and how long to wait.
#[derive(Clone, Copy, Debug, Args)]
pub struct Writes {
    /// Print what would be written, and write nothing
    #[arg(long, value_name = "WHERE", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub dry_run: Option<DryRun>,
    /// How long to wait for proxies, where the order of writes needs it and at the end
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
}

/// How much of a write is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// Compute it locally.
    Client,
    /// Let the API server validate it too.
    Server,
}
