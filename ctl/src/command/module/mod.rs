//! `module`: the module that this tool carries, to a file or an image, or beside what is there.

mod save;
mod verify;

use crate::report::Printer;
use crate::{Error, Outcome, module};
use canary_release::EmbeddedModule;
use clap::{Args, Subcommand};
use save::ModuleSave;
use verify::ModuleVerify;

/// Save and verify the filter module of this tool
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl module save --oci-layout image
  canary-ctl module verify https://files.example.com/canary_filter.wasm

With `mode: envoyfilter` nothing has to be hosted: the module travels in the
configuration (`delivery.module: embedded`). Other modes, and meshes with
hundreds of gateways, fetch it from a registry.")]
pub(super) struct Module {
    #[command(subcommand)]
    pub(super) verb: ModuleVerb,
}

/// The verbs for the module.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ModuleVerb {
    /// Write the module to a file, or an image of it to a folder
    Save(ModuleSave),
    /// Check whether a file, or what is on a web server, is the module of this tool
    Verify(ModuleVerify),
}

pub(super) async fn run(arguments: &Module, printer: &mut Printer) -> Result<Outcome, Error> {
    match &arguments.verb {
        ModuleVerb::Save(arguments) => save::run(arguments, printer),
        ModuleVerb::Verify(arguments) => verify::run(arguments, printer).await,
    }
}

/// The module that this tool carries.
fn carried() -> Result<&'static EmbeddedModule, Error> {
    module::carried().ok_or_else(|| {
        let message = "expected a `canary-ctl` that was built with the filter, found one without";
        Error::usage(
            message,
            "`./x build` builds both; `CANARY_FILTER_WASM=FILE cargo build` takes another module",
        )
    })
}
