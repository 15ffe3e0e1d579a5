//! `canary-ctl completions`.

use clap::Args;

/// Print a completion script for a shell
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl completions bash > /etc/bash_completion.d/canary-ctl")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}
