//! The filter's module that this tool carries, and its form in a registry.
//!
//! ```text
//! image   a module -> an OCI image, as Istio's agent reads it -> files, which other tools copy to a registry
//! ```

mod image;

pub(crate) use image::{INDEX, MARKER, ModuleImage};

use canary_release::EmbeddedModule;
use canary_release::file::{self, Document};
use canary_release::input_file;
use std::path::Path;
use std::sync::OnceLock;

/// A fact of the build, like the version: the binary includes the bytes and the library does not, so that a new module builds
/// little again.
static EMBEDDED: OnceLock<Option<EmbeddedModule>> = OnceLock::new();

/// Sets the module of this process, once; no bytes are no module.
pub(crate) fn carry(bytes: &[u8]) {
    let _ = EMBEDDED.set(EmbeddedModule::new(bytes));
}

/// The module that this tool was built with.
pub(crate) fn carried() -> Option<&'static EmbeddedModule> {
    EMBEDDED.get()?.as_ref()
}

/// The text of stdin, which can be read once: several stages of a command read the file of a release.
static STDIN: OnceLock<Result<String, String>> = OnceLock::new();

fn from_stdin() -> Result<Document, file::Error> {
    let path = Path::new("stdin");
    let read = || input_file::read_from(std::io::stdin()).map_err(|error| error.to_string());
    let unreadable = |why: &String| file::Error::Unreadable {
        path: path.to_owned(),
        source: std::io::Error::other(why.clone()),
    };
    file::parse(path, STDIN.get_or_init(read).as_ref().map_err(unreadable)?)
}

/// Reads a release from a file, or from stdin by the name `-`; an embedded module is this tool's.
pub(crate) fn load(path: &Path) -> Result<Document, file::Error> {
    let mut document = if path == Path::new("-") { from_stdin()? } else { file::load(path)? };
    document.release.delivery.module.embed(carried());
    Ok(document)
}
