//! `module`: the module that this tool carries, to a file or an image, or beside what is there.

mod save;
mod verify;

use crate::cli::{Module, ModuleVerb};
use crate::module;
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::EmbeddedModule;

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
