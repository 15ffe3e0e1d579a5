//! `schema`: the fields of `canary.yaml`, as a JSON Schema.

use crate::cli::Schema;
use crate::report::{self, Printer};
use crate::{Error, Outcome};
use canary_release::spec::json_schema;

pub(super) fn run(_: Schema, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.data(&text()?)?;
    Ok(Outcome::Done)
}

/// The schema as a file.
pub(super) fn text() -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(&json_schema()).map_err(report::Error::from)? + "\n")
}
