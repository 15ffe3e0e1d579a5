//! `man`: the manual pages that clap generates from the command line's types.

use crate::report::{self, Printer};
use crate::{Error, Outcome};
use clap::{Args, Command};

/// Print a manual page
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example:\n  canary-ctl man rollout start | man -l -")]
pub(super) struct Man {
    /// The command; the tool itself without it
    #[arg(value_name = "COMMAND")]
    pub(super) words: Vec<String>,
    /// Print the commands that have a page, one a line
    #[arg(long, conflicts_with = "words")]
    pub(super) list: bool,
}

pub(super) fn run(arguments: &Man, mut tool: Command, printer: &mut Printer) -> Result<Outcome, Error> {
    tool.build();
    if arguments.list {
        printer.data(&(names(&tool).join("\n") + "\n"))?;
        return Ok(Outcome::Done);
    }
    let mut command = &tool;
    for word in &arguments.words {
        command = command.find_subcommand(word).ok_or_else(|| unknown(arguments))?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(report::Error::from)?;
    printer.script(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Done)
}

/// A command and all below it, as they are typed.
fn names(command: &Command) -> Vec<String> {
    let own = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    [own]
        .into_iter()
        .chain(command.get_subcommands().filter(|command| !command.is_hide_set()).flat_map(names))
        .collect()
}

fn unknown(arguments: &Man) -> Error {
    Error::Usage {
        message: format!("expected a command of canary-ctl, found `{}`", arguments.words.join(" ")),
        hint: Some("`canary-ctl man --list` prints all".to_owned()),
    }
}
