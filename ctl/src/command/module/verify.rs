//! `module verify`: read what is there, and compare it with the module of this tool.

use super::{carried, credentials, with_default_tag};
use crate::cli::ModuleVerify;
use crate::module::{ImageReference, ModuleComparison, digest, module_layer};
use crate::registry::{RegistryAccess, RegistryClient, RegistryError, read_url};
use crate::report::Printer;
use crate::{Error, Outcome};
use canary_release::ModuleDigest;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Far more than any module has, in bytes.
const MAX_BYTES: u64 = 16 << 20;

pub(super) async fn run(arguments: &ModuleVerify, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let (target, expected) = (&arguments.target, carried()?.digest());
    let is_web = ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme));
    let compared = if ImageReference::is_meant(target) {
        in_registry(arguments, expected).await?
    } else if is_web {
        ModuleComparison::of_bytes(target.clone(), expected, &read_url(target).await?)
    } else {
        let path = Path::new(target.strip_prefix("file://").unwrap_or(target));
        let bytes =
            read(path).map_err(|source| Error::File { action: "read", path: path.to_owned(), source })?;
        ModuleComparison::of_bytes(target.clone(), expected, &bytes)
    };
    printer.report(&compared)?;
    Ok(if compared.is_same() { Outcome::Done } else { Outcome::Differences })
}

/// The manifest says which module it is; where it says that it is this one, its bytes are read, as a proxy will.
async fn in_registry(arguments: &ModuleVerify, expected: &ModuleDigest) -> Result<ModuleComparison, Error> {
    let reference = with_default_tag(arguments.target.parse()?, expected);
    let (credentials, plain) = (credentials(&arguments.registry)?, arguments.registry.plain_http);
    let mut registry = RegistryClient::new(reference.clone(), RegistryAccess::Pull, credentials, plain)?;
    let place = reference.to_string();
    let manifest = registry.manifest(reference.version()).await?;
    let manifest = manifest.ok_or_else(|| RegistryError::NoImage(place.clone()))?;
    let layer =
        module_layer(&manifest).map_err(|source| RegistryError::Image { place: place.clone(), source })?;
    let sha256 = layer.digest.strip_prefix("sha256:").unwrap_or(&layer.digest).to_owned();
    let found = ModuleDigest { sha256, size: usize::try_from(layer.size).unwrap_or(usize::MAX) };
    if found == *expected {
        registry.blob(expected).await?;
    }
    Ok(ModuleComparison::of_digest(place, expected, found).in_image(digest(&manifest)))
}

/// A file, or the part of a device that is too large for a module.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|size| size <= MAX_BYTES) {
        return Ok(bytes);
    }
    Err(io::Error::new(ErrorKind::FileTooLarge, format!("expected at most {MAX_BYTES} bytes, found more")))
}
