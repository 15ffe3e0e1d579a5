//! `completions`: the script that clap generates from the command line's types.

use crate::cli::{Cli, Completions};
use crate::report::Printer;
use crate::{Error, Outcome};
use clap::CommandFactory as _;

pub(super) fn run(arguments: Completions, printer: &mut Printer) -> Result<Outcome, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "canary-ctl", &mut script);
    printer.script(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
