//! `demo`: find the programs, start them, tell the story or watch, and end everything, whichever way it ends.

use crate::cli::Demo;
use crate::demo::{self, Filter, Programs, Screen, Stage};
use crate::report::Printer;
use crate::{Error, Outcome};
use tokio::signal::unix::{SignalKind, signal};

/// Ctrl-C drops this, and with it the stage and its processes; so do the signals that have no handler yet.
pub(super) async fn run(arguments: &Demo, printer: &mut Printer) -> Result<Outcome, Error> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Runtime)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(Error::Runtime)?;
    tokio::select! {
        done = show(arguments, printer) => done,
        _ = terminate.recv() => Err(Error::Interrupted),
        _ = hangup.recv() => Err(Error::Interrupted),
    }
}

async fn show(arguments: &Demo, printer: &mut Printer) -> Result<Outcome, Error> {
    let programs = Programs::find(arguments)?;
    let filter = if arguments.once { Filter::ComesLater } else { Filter::Installed };
    let stage = Stage::set(&programs, filter).await?;
    if let Some(taken) = stage.moved() {
        printer.message(&taken);
    }
    let mut screen = Screen::new(printer);
    if !arguments.once {
        demo::watch(&stage, arguments.users, &mut screen).await?;
        // Not struck in order: Ctrl-C has been heard, and whoever waits for it now ends us at the next await.
        return Ok(Outcome::Done);
    }
    let is_true = demo::tell(&stage, arguments.users, &mut screen).await?;
    stage.strike().await;
    Ok(if is_true { Outcome::Done } else { Outcome::No })
}
