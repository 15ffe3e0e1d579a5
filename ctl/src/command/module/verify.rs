//! `module verify`: read what is there, and compare it with the module of this tool.

use super::carried;
use crate::command::arguments::Output;
use crate::http::download;
use crate::report::{Printer, Report, escape};
use crate::{Error, Outcome};
use canary_release::ModuleDigest;
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Check whether a file, or what is on a web server, is the module of this tool
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl module verify https://files.example.com/canary_filter.wasm
  canary-ctl module verify canary_filter.wasm

Exit codes: 0 the same, 1 another one (both digests are printed), 2 failed.")]
pub(in crate::command) struct ModuleVerify {
    /// `https://…`, `http://…`, or a file
    pub(in crate::command) target: String,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// Far more than any module has, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The magic number of a WebAssembly module (WebAssembly core specification, section 5.5.16).
const MAGIC: &[u8] = b"\0asm";

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
    Ok(if compared.is_same { Outcome::Done } else { Outcome::Differences })
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

/// A module beside that of this tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ModuleComparison {
    place: String,
    is_same: bool,
    /// The module of this tool.
    expected: ModuleDigest,
    /// The module that was found.
    found: ModuleDigest,
    /// Whether it is a WebAssembly module.
    is_wasm: bool,
}

impl ModuleComparison {
    /// Of what was read.
    fn of(place: String, expected: &ModuleDigest, bytes: &[u8]) -> Self {
        let found = ModuleDigest::of(bytes);
        let (is_same, is_wasm) = (found == *expected, bytes.starts_with(MAGIC));
        Self { place, is_same, expected: expected.clone(), found, is_wasm }
    }
}

impl Report for ModuleComparison {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let place = escape::line(&self.place);
        if self.is_same {
            writeln!(out, "{place}: the module of this tool, {}", self.expected)?;
        } else {
            writeln!(out, "{place}: another module than that of this tool")?;
            writeln!(out, "  expected {}", self.expected)?;
            writeln!(out, "  found    {}", self.found)?;
        }
        if !self.is_wasm {
            writeln!(out, "  it is no WebAssembly module; archives are not unpacked")?;
        }
        Ok(())
    }
}
