//! What verbs are told that write several objects and wait between them.

use crate::spec::Seconds;
use clap::{Args, ValueEnum};

/// Whether to write, and how long to wait.
#[derive(Clone, Copy, Debug, Args)]
pub struct Writes {
    /// Write nothing: say what would be written (client), and let the API server check it (server)
    #[arg(long, value_name = "WHERE", value_enum)]
    pub dry_run: Option<DryRun>,
    /// How long to wait for proxies, where the order of writes needs it and at the end
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub timeout: Seconds,
}

/// Who looks at what would be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// We do.
    Client,
    /// The API server does too.
    Server,
}
