//! `schema`: the fields of `canary.yaml`, as a JSON Schema.

use crate::report::{self, Printer};
use crate::{Error, Outcome};
use canary_release::spec::json_schema;
use clap::Args;

/// Print the JSON Schema of canary.yaml, for editors
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Example:
  canary-ctl schema > canary.schema.json

An editor with the YAML language server takes it where the file begins with
  # yaml-language-server: $schema=canary.schema.json

`canary-ctl init --schema` writes both. `canary-ctl lint` also checks what
fields say together.")]
pub(super) struct Schema {}

pub(super) fn run(_: Schema, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.data(&text()?)?;
    Ok(Outcome::Done)
}

/// The schema as a file.
pub(super) fn text() -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(&json_schema()).map_err(report::Error::from)? + "\n")
}
