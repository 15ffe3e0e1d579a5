//! `status`: read the state, ask Envoy, compare, report.

mod problems;
mod report;

use crate::cli::Status;
use crate::local::{Admin, Entry, Environment, Stats};
use crate::report::Printer;
use crate::{Error, Outcome, spec};
use report::Standing;
use std::time::Duration;

/// Between two reports of `--watch`.
const PAUSE: Duration = Duration::from_secs(2);

pub(super) async fn run(arguments: &Status, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let document = spec::load(&arguments.spec.file)?;
    let environment = Environment::of(&document.release)?;
    let name = super::release_name(arguments.release.as_deref(), &document);
    loop {
        let state = environment.state()?;
        let entry = state.release(environment.layout(), &name)?;
        let report = observe(&name, entry, &environment.admin()).await;
        if arguments.watch {
            printer.clear()?;
        }
        printer.report(&report)?;
        if !arguments.watch {
            return Ok(Outcome::Done);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn observe(name: &str, entry: &Entry, admin: &Admin) -> Standing {
    let stats: Result<Stats, _> = admin.stats().await;
    let now = jiff::Timestamp::now();
    let problems = problems::of(name, entry, stats.as_ref(), now);
    Standing::new(name, entry, stats.ok().as_ref(), now, problems)
}
