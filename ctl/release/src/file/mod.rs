//! From a file to a [`Release`], or to everything that is wrong with it.

mod check;

use crate::input_file;
use crate::spec::{Release, read_release};
use placed_yaml::{self as yaml, Fault, Faults, Place, SyntaxError};
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

/// The places of a release's fields in its file.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The file.
    pub path: PathBuf,
    places: BTreeMap<String, Place>,
}

/// The error of a file that is no release.
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
    let root = yaml::parse(text).map_err(|SyntaxError { place, message, hint }| {
        refusal(vec![Fault { place, message, hint: hint.map(str::to_owned) }])
    })?;
    let faults = Faults::default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let release = read_release(&faults, folder, &root);
    if let Some(release) = &release {
        check::contract(&faults, release, &root);
    }
    let (found, places) = faults.finish();
    match release {
        Some(release) if found.is_empty() => {
            Ok(Document { release, origin: Origin { path: path.to_owned(), places } })
        }
        _ => Err(refusal(found)),
    }
}

impl Origin {
    /// Whether a field was written.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.places.contains_key(field)
    }

    /// The place of a field, or of the nearest field above it that was written: `spec.identifyBy[1]`, else `spec.identifyBy`, else `spec`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(Path::new("canary.yaml"), text).unwrap_err().to_string()
    }

    #[test]
    fn a_tag_is_refused_with_a_hint() {
        let expected = "canary.yaml:1:10: expected a value without a tag, found the tag `!!str`\n  hint: remove the tag, and quote the value if it is a text";
        assert_eq!(refusal("a: !!str 0644\n"), expected);
    }

    #[test]
    fn aliases_of_a_long_text_are_refused() {
        let aliases = vec!["*a"; 30_000].join(",");
        let refusal = refusal(&format!("x: &a '{}'\ny: [{aliases}]\n", "x".repeat(100_000)));
        assert!(refusal.contains("bytes of what anchors and aliases name (4 times the file"), "{refusal}");
    }

    /// It would be the name of a field, a label or an annotation, and none may be so.
    #[test]
    fn a_merge_key_is_refused_by_name() {
        let valid = include_str!("../../../../examples/session-cookie/canary.yaml");
        for added in [
            "<<: {kind: x}\nmetadata:\n",
            "metadata:\n  labels: {<<: b}\n",
            "metadata:\n  annotations: {<<: b}\n",
        ] {
            let refusal = refusal(&valid.replacen("metadata:\n", added, 1));
            assert!(refusal.contains("<<") && refusal.lines().count() < 3, "{added:?}: {refusal}");
        }
    }

    #[test]
    fn a_host_or_a_path_twice_is_refused_at_its_list() {
        let valid = include_str!("../../../../examples/session-cookie/canary.yaml");
        let hosts = "hosts: [shop.example.com]\n";
        for (added, twice) in [
            ("hosts: [shop.example.com, shop.example.com]\n", "shop.example.com/"),
            ("hosts: [shop.example.com]\n  paths: [/a, /b, /a]\n", "shop.example.com/a"),
        ] {
            assert!(valid.contains(hosts));
            let refusal = refusal(&valid.replacen(hosts, added, 1));
            let expected =
                format!("canary.yaml:19:10: expected each host and path once, found `{twice}` twice");
            assert_eq!(refusal, expected);
        }
    }

    /// A pin is signed with the uid: a file that has moved it has to keep the value.
    #[test]
    fn a_uid_is_that_of_the_specification_and_of_older_files_that_of_the_metadata() {
        let valid = include_str!("../../../../examples/session-cookie/canary.yaml");
        let with = |metadata: &str, spec: &str| {
            let text = valid.replacen("metadata:\n", &format!("metadata:\n{metadata}"), 1);
            text.replacen("\nspec:\n", &format!("\nspec:\n{spec}"), 1)
        };
        let uid = |text: &str| parse(Path::new("canary.yaml"), text).unwrap().release.uid;
        let (older, newer) = ("  uid: abcdefghijkl\n", "  uid: abcdefghijkl\n");
        for text in [with(older, ""), with("", newer), with(older, newer)] {
            assert_eq!(uid(&text).as_deref(), Some("abcdefghijkl"));
        }
        let refusal = refusal(&with(older, "  uid: mnopqrstuvwx\n"));
        let expected = "expected the uid of `metadata.uid`, `abcdefghijkl`, found `mnopqrstuvwx`";
        assert!(refusal.contains(expected) && refusal.starts_with("canary.yaml:10:"), "{refusal}");
        let too_long = "x".repeat(64);
        let refusal = super::tests::refusal(&with("", &format!("  uid: {too_long}\n")));
        assert!(refusal.starts_with("canary.yaml:9:"), "{refusal}");
    }
}
