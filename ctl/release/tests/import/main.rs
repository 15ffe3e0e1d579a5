//! The import of twenty `Canary`s and twenty `Rollout`s of the shapes that are public, and of every field that their schemas have.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod examples;
mod mutations;
mod schema_fields;

use canary_release::import::{Import, ImportOptions, Peer, SourceText};
use std::path::{Path, PathBuf};

const PEERS: [(Peer, &str); 2] = [(Peer::Flagger, "flagger"), (Peer::Argo, "argo")];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import")
}

/// The examples of a peer in the order of their names: name and text.
fn examples_of(peer: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder().join(peer)).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

fn options() -> ImportOptions {
    ImportOptions { uid: "0123456789abcdef".to_owned(), ..ImportOptions::default() }
}

fn import(peer: Peer, name: &str, text: &str, options: &ImportOptions) -> Import {
    let source = SourceText { name, text, has_lines: true };
    Import::of(peer, &[source], options).unwrap_or_else(|error| panic!("{name}: {error}"))
}
