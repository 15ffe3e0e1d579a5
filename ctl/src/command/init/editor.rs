//! What lets an editor know the fields of the file: the schema beside it, and a line that names the schema.
//!
//! The line names a file and no address: there is none from which a schema of this version is served, and an editor that fetches one
//! from elsewhere would complete the fields of another version.

use crate::Error;
use crate::cli::Init;
use crate::command::schema;
use crate::local::{Readers, replace_for};
use crate::report::Printer;
use canary_release::input_file;
use std::io::ErrorKind;

const FILE: &str = "canary.schema.json";
/// What the YAML language server looks for at the beginning of a file.
pub(super) const MODELINE: &str = "# yaml-language-server: $schema=canary.schema.json\n";

/// Writes the schema beside the file. Another file of its name is replaced only by force.
pub(super) fn write_schema(arguments: &Init, printer: &mut Printer) -> Result<(), Error> {
    let (path, text) = (arguments.file.with_file_name(FILE), schema::text()?);
    match input_file::read(&path) {
        Ok(there) if there == text => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ if arguments.force => {}
        Ok(_) => {
            let message = format!("{} is there already, and another one", path.display());
            return Err(Error::usage(
                message,
                "give `--force` to overwrite it; one of another version of this tool differs, too",
            ));
        }
        Err(source) => return Err(Error::File { action: "read", path, source }),
    }
    replace_for(Readers::Everyone, &path, &text)?;
    printer.message(&format!("{} written", path.display()));
    Ok(())
}
