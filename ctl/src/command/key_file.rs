//! The file of signing keys that a command was given: who can read it can forge pins and tokens.

use crate::cli::{TokenVerb, Verb};
use crate::hint::ShellCommand;
use crate::report::Printer;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Prints a message if users other than the owner can read the file. One that does not exist is reported where it is read.
pub(super) fn check_readers(verb: &Verb, printer: &mut Printer) {
    let Some(path) = path(verb) else { return };
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        let path = path.display().to_string();
        printer.message(&format!("{path} can be read by other users: they can forge pins and tokens"));
        let command = ShellCommand::new("chmod 600").quoted(&path, "FILE");
        printer.hint(&format!("{command}, and `canary-ctl rotate-keys` if others had access"));
    }
}

fn path(verb: &Verb) -> Option<&Path> {
    match verb {
        Verb::Generate(arguments) => arguments.keys.as_deref(),
        Verb::Explain(arguments) => arguments.keys.keys.as_deref(),
        Verb::Simulate(arguments) => arguments.keys.keys.as_deref(),
        Verb::Verify(arguments) => arguments.keys.keys.as_deref(),
        Verb::Token(arguments) => match &arguments.verb {
            TokenVerb::Create(arguments) => arguments.keys.keys.as_deref(),
            TokenVerb::Inspect(arguments) => arguments.keys.keys.as_deref(),
            TokenVerb::Revoke(_) => None,
        },
        _ => None,
    }
}
