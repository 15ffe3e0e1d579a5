//! Finds the programs, starts them, runs the scenario or watches, and ends everything, however it ends.

use crate::cli::Cli;
use crate::environment::{DemoEnv, Filter};
use crate::error::Error;
use crate::find::Programs;
use crate::screen::Screen;
use crate::{scenario, watch};
use canary_ctl::Outcome;
use canary_ctl::report::Printer;
use tokio::signal::unix::{SignalKind, signal};

/// Runs the demo to its end. A signal drops it, and with it the environment and its processes.
pub(crate) fn run(arguments: &Cli, printer: &mut Printer) -> Result<Outcome, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(Error::Runtime)?;
        let mut hangup = signal(SignalKind::hangup()).map_err(Error::Runtime)?;
        tokio::select! {
            // In order: `watch` ends by Ctrl-C without an error.
            biased;
            done = demonstrate(arguments, printer) => done,
            Ok(()) = tokio::signal::ctrl_c() => Err(Error::Interrupted),
            _ = terminate.recv() => Err(Error::Interrupted),
            _ = hangup.recv() => Err(Error::Interrupted),
        }
    })
}

async fn demonstrate(arguments: &Cli, printer: &mut Printer) -> Result<Outcome, Error> {
    let programs = Programs::find(arguments)?;
    let filter = if arguments.once { Filter::InstalledLater } else { Filter::Installed };
    let env = DemoEnv::start(&programs, filter).await?;
    if let Some(message) = env.other_ports() {
        printer.message(&message);
    }
    let mut screen = Screen::new(printer);
    let all_passed = if arguments.once {
        scenario::run_once(&env, arguments.users, &mut screen).await?
    } else {
        watch::watch(&env, arguments.users, &mut screen).await?;
        true
    };
    // No await from here on: Ctrl-C has also reached `run`, which would return 130 at the next one.
    env.stop();
    Ok(if all_passed { Outcome::Done } else { Outcome::Differences })
}
