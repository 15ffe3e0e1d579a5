//! `canary-ctl man`.

use clap::Args;

/// Print a manual page
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl man rollout start | man -l -")]
pub struct Man {
    /// The command; the tool itself without it
    #[arg(value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Print the commands that have a page, one a line
    #[arg(long, conflicts_with = "words")]
    pub list: bool,
}
