//! One file for each verb: its stages in order, from arguments to report.

mod completions;
mod lint;

use crate::cli::{Cli, Verb};
use crate::report::Printer;
use crate::{Error, Outcome};

/// Does what the command line says. Ctrl-C ends it at the next await: files are replaced by rename, never half written.
pub fn run(cli: Cli, printer: &mut Printer) -> Result<Outcome, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    runtime.block_on(async {
        tokio::select! {
            done = dispatch(cli, printer) => done,
            Ok(()) = tokio::signal::ctrl_c() => Err(Error::Interrupted),
        }
    })
}

#[expect(
    clippy::unused_async,
    reason = "the verbs that wait for a proxy are async, the others need not know"
)]
async fn dispatch(cli: Cli, printer: &mut Printer) -> Result<Outcome, Error> {
    match cli.verb {
        Verb::Lint(arguments) => lint::run(&arguments, printer),
        Verb::Completions(arguments) => completions::run(arguments, printer),
    }
}
