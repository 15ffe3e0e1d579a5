//! One name for one thing, and retired names stay retired.

use crate::{root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[test]
fn retired_identifiers_do_not_come_back() {
    let style = std::fs::read_to_string(root().join("STYLE.md")).unwrap();
    let retired: BTreeSet<&str> =
        style.split("```text\n").nth(1).unwrap().split("```").next().unwrap().split_whitespace().collect();
    assert!(retired.len() > 20, "STYLE.md lists them: {retired:?}");
    let mut files = Vec::new();
    for folder in ["assignment", "examples", "filter", "ctl", "wasm-tests/tests"] {
        sources(&root().join(folder), &mut files);
    }
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let found: BTreeSet<&str> = words.filter(|word| retired.contains(word)).collect();
        assert!(found.is_empty(), "{} uses {found:?}: see STYLE.md", path.display());
    }
}

/// The types that a file declares for others: `pub`, `pub(crate)` or `pub(super)`.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix("pub")?;
        let line =
            line.strip_prefix('(').map_or(line, |line| line.split_once(')').map_or(line, |(_, rest)| rest));
        let (kind, rest) = line.trim_start().split_once(' ')?;
        let is_type = ["struct", "enum", "trait", "type", "union"].contains(&kind);
        is_type.then(|| rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next())?
    })
}

/// One name, one meaning. `Error` is the exception: each stage has one, and is named before it (`plan::Error`).
#[test]
fn a_public_type_name_occurs_once_in_a_crate() {
    let crates = [
        "assignment",
        "assignment/contract",
        "ctl",
        "ctl/jar",
        "ctl/operations",
        "ctl/operations/fake-api-server",
        "ctl/release",
        "ctl/twins",
        "ctl/yaml",
        "examples/demo",
        "examples/shop",
        "filter",
        "filter/module",
        "wasm-tests",
        "wasm-tests/studies/bench",
        "wasm-tests/browser",
        "wasm-tests/envoy",
        "wasm-tests/studies/evidence",
        "wasm-tests/host",
        "wasm-tests/lab",
        "wasm-tests/programs",
        "wasm-tests/studies/mesh",
        "wasm-tests/traffic",
    ];
    for name in crates {
        let mut files = Vec::new();
        sources(&root().join(name).join("src"), &mut files);
        let mut declared: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            for found in public_types(&text).filter(|found| *found != "Error") {
                declared.entry(found.to_owned()).or_default().push(path.clone());
            }
        }
        assert!(!declared.is_empty(), "{name} declares types");
        declared.retain(|_, files| files.len() > 1);
        assert!(declared.is_empty(), "{name} has public types of the same name: {declared:#?}");
    }
}
