//! `version`: this tool, and the module that it carries.

use super::arguments::Output;
use crate::report::{Printer, Report};
use crate::{Error, Outcome, module};
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Print the version of this tool and the digest of its module
#[derive(Clone, Copy, Debug, Args)]
#[command(
    after_help = "Example:\n  canary-ctl version -o json\n\n`canary-ctl status` says which module the proxies run."
)]
pub(super) struct Version {
    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Clone, Debug, Serialize)]
struct Versions {
    client: &'static str,
    /// The digest of the module; `None` in a tool that was built without one.
    module: Option<String>,
}

pub(super) fn run(arguments: Version, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let module = module::carried().map(|module| module.digest().to_string());
    printer.report(&Versions { client: env!("CARGO_PKG_VERSION"), module })?;
    Ok(Outcome::Done)
}

impl Report for Versions {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(out, "canary-ctl {}", self.client)?;
        writeln!(out, "module {}", self.module.as_deref().unwrap_or("none"))
    }
}
