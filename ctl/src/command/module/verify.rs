//! `module verify`: read what is there, and compare it with the module of this tool.

use super::carried;
use crate::cli::ModuleVerify;
use crate::http::download;
use crate::module::ModuleComparison;
use crate::report::Printer;
use crate::{Error, Outcome};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Far more than any module has, in bytes.
const MAX_BYTES: u64 = 16 << 20;

pub(super) async fn run(arguments: &ModuleVerify, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let (target, expected) = (&arguments.target, carried()?.digest());
    let has_scheme = |schemes: &[&str]| schemes.iter().any(|scheme| target.starts_with(scheme));
    if has_scheme(&["oci://", "docker://"]) {
        return Err(Error::usage(
            format!("expected a file or an address of HTTP, found the image {target}"),
            "compare the digest that `canary-ctl module save --oci-layout DIR --dry-run` prints with the image's: \
             `skopeo inspect --format '{{.Digest}}' docker://…`",
        ));
    }
    let compared = if has_scheme(&["http://", "https://"]) {
        ModuleComparison::of(target.clone(), expected, &download(target).await?)
    } else {
        let path = Path::new(target.strip_prefix("file://").unwrap_or(target));
        let bytes =
            read(path).map_err(|source| Error::File { action: "read", path: path.to_owned(), source })?;
        ModuleComparison::of(target.clone(), expected, &bytes)
    };
    printer.report(&compared)?;
    Ok(if compared.is_same() { Outcome::Done } else { Outcome::Differences })
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
