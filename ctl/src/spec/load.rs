//! From a file to a [`Release`], or to everything that is wrong with it.

use super::{Release, read};
use crate::yaml::{self, Fault, Faults, Place};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A release and where it was written.
#[derive(Clone, Debug)]
pub struct Document {
    /// What the file says.
    pub release: Release,
    /// Where it says it.
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
    /// The file says something that it cannot mean.
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

/// Reads a release from a file. Relative paths in it are taken relative to its folder.
///
/// Fails with *all* faults of the file together. Does not fail on what is legal and dangerous: that is `lint`.
pub fn load(path: &Path) -> Result<Document, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(path, &text)
}

/// Reads a release from a text; `path` is for messages and for relative paths.
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
    /// Where a field was written, or the nearest field above it that was: `spec.keys[1]`, else `spec.keys`, else `spec`.
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

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Some("`canary-ctl init` writes one; `-f FILE` names another".to_owned())
            }
            _ => None,
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
