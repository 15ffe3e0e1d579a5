//! `module save`: what is there already, what would be written, and writing it.

use super::carried;
use crate::command::arguments::{Output, only_client};
use crate::local::{Readers, replace_for};
use crate::module::{INDEX, MARKER, ModuleImage};
use crate::report::{self, Printer, Report, escape};
use crate::{Error, Outcome};
use canary_release::ModuleDigest;
use clap::{ArgAction, Args};
use hyper::body::Bytes;
use serde::Serialize;
use std::fmt;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Write the module to a file, or an image of it to a folder
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  canary-ctl module save canary_filter.wasm
  canary-ctl module save --oci-layout image && skopeo copy --preserve-digests \\
    oci:image docker://registry.example.com/canary/filter:1.0

The image is in the form that Istio's agent reads. The same module has the same
digest. canary.yaml names it by the digest that this command prints:
`delivery.module: oci://registry.example.com/canary/filter@sha256:…`.")]
pub(in crate::command) struct ModuleSave {
    /// The file to write the module to
    #[arg(required_unless_present = "layout")]
    pub(in crate::command) file: Option<PathBuf>,
    /// The folder to write an image of the module to, as an OCI image layout
    #[arg(long = "oci-layout", value_name = "DIR")]
    pub(in crate::command) layout: Option<PathBuf>,
    /// Replace a file or an image that is another one
    #[arg(long)]
    pub(in crate::command) force: bool,
    /// Print what would be written, and write nothing
    #[arg(long, value_name = "WHERE", action = ArgAction::Set, value_parser = only_client, num_args = 0..=1, require_equals = true, default_missing_value = "client", default_value = "none", hide_default_value = true)]
    pub(in crate::command) dry_run: bool,
    #[command(flatten)]
    pub(in crate::command) output: Output,
}

/// The action for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum FileAction {
    Write,
    Replace,
    Keep,
}

#[derive(Serialize)]
struct SavedFile {
    path: PathBuf,
    action: FileAction,
    #[serde(skip)]
    bytes: Bytes,
}

/// The files that were saved, or would be.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedModule {
    module: ModuleDigest,
    /// The digest of the image, where one was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    files: Vec<SavedFile>,
    dry_run: bool,
}

pub(super) fn run(arguments: &ModuleSave, printer: &mut Printer) -> Result<Outcome, Error> {
    printer.format = arguments.output.format;
    let carried = carried()?;
    let mut wanted = Vec::new();
    if let Some(file) = &arguments.file {
        wanted.push((file.clone(), carried.bytes().into()));
    }
    let mut digest = None;
    if let Some(folder) = &arguments.layout {
        let image = ModuleImage::of(carried.bytes()).map_err(report::Error::from)?;
        check_folder(folder)?;
        let files = image.layout().map_err(report::Error::from)?;
        wanted.extend(files.into_iter().map(|(path, bytes)| (folder.join(path), bytes)));
        digest = Some(image.manifest.digest);
    }
    // All of it is checked before the first write.
    let files = wanted.into_iter().map(|(path, bytes)| planned(path, bytes, arguments.force));
    let files: Vec<SavedFile> = files.collect::<Result<_, Error>>()?;
    if !arguments.dry_run {
        for file in files.iter().filter(|file| file.action != FileAction::Keep) {
            write(file)?;
        }
    }
    let module = carried.digest().clone();
    printer.report(&SavedModule { module, image: digest, files, dry_run: arguments.dry_run })?;
    Ok(Outcome::Done)
}

/// A folder with other things in it is no place for a layout, whatever is forced.
fn check_folder(folder: &Path) -> Result<(), Error> {
    let failed = |source| Error::File { action: "read", path: folder.to_owned(), source };
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let is_empty = entries.next().is_none();
    if is_empty || folder.join(MARKER).is_file() {
        return Ok(());
    }
    let message =
        format!("expected an empty folder or an OCI image layout, found other files in {}", folder.display());
    Err(Error::usage(message, "give another folder"))
}

/// The action for a file. Another one is replaced only by force, except for the list of a layout's images, whose
/// images stay.
fn planned(path: PathBuf, bytes: Bytes, force: bool) -> Result<SavedFile, Error> {
    let failed = |source| Error::File { action: "read", path: path.clone(), source };
    let action = match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => FileAction::Write,
        Err(error) => return Err(failed(error)),
        // A pipe or a device would be read for ever.
        Ok(metadata) if !metadata.is_file() => {
            let message = format!("expected a file or nothing at {}, found neither", path.display());
            return Err(Error::usage(message, "give another path"));
        }
        Ok(metadata) => {
            let has_size = usize::try_from(metadata.len()).is_ok_and(|size| size == bytes.len());
            let is_same = has_size && fs::read(&path).map_err(failed)? == bytes;
            if is_same { FileAction::Keep } else { FileAction::Replace }
        }
    };
    if action == FileAction::Replace && !force {
        let what = if path.ends_with(INDEX) { "an image of another module" } else { "another file" };
        let message = format!("expected nothing or the same at {}, found {what}", path.display());
        return Err(Error::usage(message, "give `--force` to replace it, or another path"));
    }
    Ok(SavedFile { path, action, bytes })
}

fn write(file: &SavedFile) -> Result<(), Error> {
    if let Some(folder) = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let failed = |source| Error::File { action: "write", path: folder.to_owned(), source };
        DirBuilder::new().recursive(true).create(folder).map_err(failed)?;
    }
    Ok(replace_for(Readers::Everyone, &file.path, &file.bytes)?)
}

impl Report for SavedModule {
    fn text(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for file in &self.files {
            let path = file.path.display().to_string();
            let done = match (file.action, self.dry_run) {
                (FileAction::Keep, _) => "is there already",
                (FileAction::Write, false) => "written",
                (FileAction::Replace, false) => "replaced",
                (FileAction::Write, true) => "would be written",
                (FileAction::Replace, true) => "would be replaced",
            };
            writeln!(out, "{} {done}", escape::line(&path))?;
        }
        writeln!(out, "module {}", self.module)?;
        match &self.image {
            Some(digest) => writeln!(out, "image  {digest}"),
            None => Ok(()),
        }
    }
}
