//! The command line. One file for each verb: its arguments as clap types, and its stages in order, from arguments to report.

mod admission_policy;
mod apply;
mod arguments;
mod checks;
mod cli;
mod complete;
mod completions;
mod controller;
mod conventions;
mod crd;
mod dashboard;
mod diff;
mod doctor;
mod emergency;
mod explain;
mod generate;
mod groups;
mod init;
mod inner_release;
mod lint;
mod list;
mod live;
mod man;
mod missing_rights;
mod module;
mod named_release;
mod pause;
mod prepare;
mod promote;
mod rbac;
mod recover;
mod release_context;
mod revoke;
mod role_change;
mod rollback;
mod rollout;
mod rotate_keys;
mod schema;
mod simulate;
mod status;
mod target;
mod token;
mod train;
mod twin;
mod uninstall;
mod verify;
mod version;
mod weight;

pub use cli::{Cli, parse};

use crate::hint::ShellCommand;
use crate::report::Printer;
use crate::{Error, Outcome, outcome};
use clap::CommandFactory as _;
use cli::Verb;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use token::TokenVerb;

/// Runs the command. Ctrl-C ends it at the next await: files are replaced by rename, never half written.
///
/// # Errors
///
/// If the command fails; [`Error`] says at which stage. A check that does not hold is no error, but [`Outcome::Differences`].
pub fn run(cli: Cli, printer: &mut Printer) -> Result<Outcome, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    runtime.block_on(async {
        tokio::select! {
            done = explained(cli, printer) => done,
            Ok(()) = tokio::signal::ctrl_c() => Err(Error::Interrupted),
        }
    })
}

/// The command, whose error names all rights that are missing if the cluster denied one.
async fn explained(cli: Cli, printer: &mut Printer) -> Result<Outcome, Error> {
    let scope = missing_rights::Scope::of(&cli.verb);
    match (Box::pin(dispatch(cli, printer)).await, scope) {
        (Err(error), Some(scope)) => Err(scope.complete(error).await),
        (done, _) => done,
    }
}

async fn dispatch(cli: Cli, printer: &mut Printer) -> Result<Outcome, Error> {
    check_key_readers(&cli.verb, printer);
    match cli.verb {
        Verb::Init(arguments) => init::run(&arguments, printer).await,
        Verb::Lint(arguments) => lint::run(&arguments, printer),
        Verb::Generate(arguments) => generate::run(&arguments, printer).await,
        Verb::Diff(arguments) => diff::run(&arguments, printer).await,
        Verb::Doctor(arguments) => Box::pin(doctor::run(&arguments, printer)).await,
        Verb::Prepare(arguments) => prepare::run(&arguments, printer).await,
        Verb::Apply(arguments) => Box::pin(apply::run(&arguments, printer)).await,
        Verb::Uninstall(arguments) => {
            Box::pin(emergency::limited(&arguments.on.cluster, uninstall::run(&arguments, printer))).await
        }
        Verb::Weight(arguments) => weight::run(&arguments, printer).await,
        Verb::Promote(arguments) => Box::pin(promote::run(&arguments, printer)).await,
        Verb::Rollback(arguments) => rollback::run(&arguments, printer).await,
        Verb::Recover(arguments) => recover::run(&arguments, printer).await,
        Verb::RotateKeys(arguments) => Box::pin(rotate_keys::run(&arguments, printer)).await,
        Verb::Rollout(arguments) => Box::pin(rollout::run(&arguments, printer)).await,
        Verb::Controller(arguments) => Box::pin(controller::run(&arguments, printer)).await,
        Verb::Pause(arguments) => {
            Box::pin(emergency::limited(&arguments.on.cluster, pause::pause(&arguments, printer))).await
        }
        Verb::Resume(arguments) => pause::resume(&arguments, printer).await,
        Verb::List(arguments) => list::run(&arguments, printer).await,
        Verb::Status(arguments) => {
            Box::pin(emergency::limited_read(&arguments.cluster, status::run(&arguments, printer))).await
        }
        Verb::Dashboard(arguments) => Box::pin(dashboard::run(&arguments, printer)).await,
        Verb::Explain(arguments) => Box::pin(explain::run(arguments, printer)).await,
        Verb::Simulate(arguments) => simulate::run(arguments, printer).await,
        Verb::Token(arguments) => token::run(arguments, printer).await,
        Verb::Twin(arguments) => Box::pin(twin::run(&arguments, printer)).await,
        Verb::Verify(arguments) => verify::run(arguments, printer).await,
        Verb::Module(arguments) => Box::pin(module::run(&arguments, printer)).await,
        Verb::Version(arguments) => Box::pin(version::run(&arguments, printer)).await,
        Verb::Schema(arguments) => schema::run(arguments, printer),
        Verb::Man(arguments) => man::run(&arguments, Cli::command(), printer),
        Verb::Completions(arguments) => completions::run(arguments, Cli::command(), printer),
        Verb::Checks => checks::run(printer),
        Verb::ExitCodes => exit_codes(printer),
        Verb::Complete(arguments) => complete::run(arguments, Cli::command(), printer),
    }
}

fn exit_codes(printer: &mut Printer) -> Result<Outcome, Error> {
    printer.data(outcome::EXIT_CODES)?;
    Ok(Outcome::Done)
}

/// Prints a message if users other than the owner can read the file. One that does not exist is reported where it is read.
fn check_key_readers(verb: &Verb, printer: &mut Printer) {
    let Some(path) = key_file(verb) else { return };
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        let path = path.display().to_string();
        printer.message(&format!("{path} can be read by other users: they can forge pins and tokens"));
        let command = ShellCommand::new("chmod 600").quoted(&path, "FILE");
        printer.hint(&format!("{command}, and `canary-ctl rotate-keys` if others had access"));
    }
}

fn key_file(verb: &Verb) -> Option<&Path> {
    match verb {
        Verb::Generate(arguments) => arguments.keys.as_deref(),
        Verb::Explain(arguments) => arguments.keys.keys.as_deref(),
        Verb::Simulate(arguments) => arguments.keys.keys.as_deref(),
        Verb::Verify(arguments) => arguments.keys.keys.as_deref(),
        Verb::Token(arguments) => match &arguments.verb {
            TokenVerb::Create(arguments) => arguments.keys.keys.as_deref(),
            TokenVerb::Inspect(arguments) => arguments.keys.keys.as_deref(),
            TokenVerb::Revoke(_) => None,
        },
        _ => None,
    }
}
