//! From a file to a [`Release`], or to everything that is wrong with it.

use super::Release;
use crate::input_file;
use crate::spec::read;
use crate::yaml::{self, Fault, Faults, Place};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A release and where it was written.
#[derive(Clone, Debug)]
pub struct Document {
    /// The release.
    pub release: Release,
    /// The place of each field.
    pub origin: Origin,
}

/// Where the fields of a release were written.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The file.
    pub path: PathBuf,
    places: BTreeMap<String, Place>,
}

/// Why a file is no release.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file has invalid values.
    #[error("{}", Listing { path, faults })]
    Faulty {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong, in the order of the file. Never empty.
        faults: Vec<Fault>,
    },
}

struct Listing<'a> {
    path: &'a Path,
    faults: &'a [Fault],
}

/// Reads a release from a file. Relative paths in it are resolved against its folder. Settings that are valid and
/// dangerous are no error: `lint` reports them.
///
/// # Errors
///
/// If the file cannot be read, or has faults; the error lists all of them.
pub fn load(path: &Path) -> Result<Document, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let text = input_file::read(path).map_err(unreadable)?;
    parse(path, &text)
}

/// Reads a release from a text; `path` is for messages and for relative paths.
///
/// # Errors
///
/// If the text is no YAML, or no release: every fault with its line and column.
pub fn parse(path: &Path, text: &str) -> Result<Document, Error> {
    let refusal = |faults| Error::Faulty { path: path.to_owned(), faults };
    let root = yaml::parse(text)
        .map_err(|error| refusal(vec![Fault { place: error.place, message: error.message, hint: None }]))?;
    let faults = Faults::default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let release = read::release(&faults, folder, &root);
    let (found, places) = faults.finish();
    match release {
        Some(release) if found.is_empty() => {
            Ok(Document { release, origin: Origin { path: path.to_owned(), places } })
        }
        _ => Err(refusal(found)),
    }
}

impl Origin {
    /// Where a field was written, or the nearest field above it that was: `spec.identifyBy[1]`, else `spec.identifyBy`, else `spec`.
    pub fn place(&self, field: &str) -> Place {
        let mut field = field;
        loop {
            if let Some(place) = self.places.get(field) {
                return *place;
            }
            match field.rfind(['.', '[']) {
                Some(cut) => field = field.get(..cut).unwrap_or_default(),
                None => return Place { line: 1, column: 1 },
            }
        }
    }
}

impl fmt::Display for Listing<'_> {
    /// `file:line:column: message`, one a line, so that editors can jump there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{}: {}", self.path.display(), fault.place, fault.message)?;
            if let Some(hint) = &fault.hint {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}
