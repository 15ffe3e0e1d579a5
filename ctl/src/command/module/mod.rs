//! `module`: the module that this tool carries, to a file, to a registry, or beside what is there.

mod push;
mod save;
mod verify;

use crate::cli::{Module, ModuleVerb, RegistryOptions};
use crate::module::{self, ImageReference, ModuleImage};
use crate::registry::{CredentialSource, RegistryCredential};
use crate::report::Printer;
use crate::{Error, Outcome, report};
use canary_release::{EmbeddedModule, ModuleDigest};
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

/// The digits of the module's SHA-256 in a tag that was not given.
const TAG_DIGITS: usize = 12;
/// No password is longer.
const MAX_PASSWORD_BYTES: u64 = 64 << 10;

pub(super) async fn run(arguments: &Module, printer: &mut Printer) -> Result<Outcome, Error> {
    match &arguments.verb {
        ModuleVerb::Save(arguments) => save::run(arguments, printer),
        ModuleVerb::Push(arguments) => push::run(arguments, printer).await,
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

/// Its image.
fn image(carried: &EmbeddedModule) -> Result<ModuleImage, Error> {
    Ok(ModuleImage::of(carried.bytes()).map_err(report::Error::from)?)
}

/// The address with a tag or a digest: the given one, else a tag that only this module has, and that never has to move.
fn with_default_tag(reference: ImageReference, module: &ModuleDigest) -> ImageReference {
    if reference.tag.is_some() || reference.digest.is_some() {
        return reference;
    }
    reference.with_tag(module.sha256.chars().take(TAG_DIGITS).collect::<String>())
}

/// The user of the command line, with the password from stdin; else Docker's configuration.
fn credentials(options: &RegistryOptions) -> Result<CredentialSource, Error> {
    let Some(username) = &options.username else { return Ok(CredentialSource::Docker) };
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        let message = "expected the password on stdin, found a terminal";
        return Err(Error::usage(message, "`--username NAME < FILE`, or a pipe from your password manager"));
    }
    let mut password = String::new();
    let read = stdin.by_ref().take(MAX_PASSWORD_BYTES).read_to_string(&mut password);
    read.map_err(|source| Error::File { action: "read", path: Path::new("stdin").to_owned(), source })?;
    let password = password.trim_end_matches(['\r', '\n']).to_owned();
    if password.is_empty() {
        return Err(Error::usage(
            "expected the password on stdin, found nothing",
            "`--username NAME < FILE`",
        ));
    }
    Ok(CredentialSource::Given(RegistryCredential::Password { username: username.clone(), password }))
}
