//! `completions`: the script that clap generates from the command line's types.

use crate::report::Printer;
use crate::{Error, Outcome};
use clap::{Args, Command};

/// Print a completion script for a shell
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl completions bash > /etc/bash_completion.d/canary-ctl")]
pub(super) struct Completions {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

pub(super) fn run(
    arguments: Completions,
    mut tool: Command,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut tool, "canary-ctl", &mut script);
    printer.script(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
