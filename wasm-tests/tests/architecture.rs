//! `ARCHITECTURE.md` and the docs are true: the crates depend on each other as drawn, and what they name exists.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The workspace's own dependencies of a crate, as cargo sees them; development ones left out.
fn depends_on(metadata: &Value, name: &str) -> BTreeSet<String> {
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == name).unwrap();
    let dependencies = package["dependencies"].as_array().unwrap();
    let ours = dependencies
        .iter()
        .filter(|dependency| dependency["path"].is_string() && dependency["kind"].is_null());
    ours.map(|dependency| dependency["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_crates_depend_on_each_other_as_drawn() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let only = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(depends_on(&metadata, "contract"), only(&[]), "the contract depends on nothing of ours");
    assert_eq!(depends_on(&metadata, "assignment"), only(&["contract"]));
    assert_eq!(depends_on(&metadata, "canary-filter"), only(&["assignment"]));
    assert_eq!(depends_on(&metadata, "canary-wasm"), only(&["assignment", "canary-filter"]));
    assert_eq!(depends_on(&metadata, "canary-ctl"), only(&["assignment"]));
    assert!(
        !depends_on(&metadata, "wasm-tests").contains("canary-filter"),
        "the tests use the built module, not the filter's Rust"
    );
}

/// Every Rust file below a folder of the repository.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn retired_identifiers_do_not_come_back() {
    let style = std::fs::read_to_string(root().join("STYLE.md")).unwrap();
    let retired: BTreeSet<&str> =
        style.split("```text\n").nth(1).unwrap().split("```").next().unwrap().split_whitespace().collect();
    assert!(retired.len() > 20, "STYLE.md lists them: {retired:?}");
    let mut files = Vec::new();
    for folder in ["ctl", "wasm-tests/tests/mesh"] {
        sources(&root().join(folder), &mut files);
    }
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let found: BTreeSet<&str> = words.filter(|word| retired.contains(word)).collect();
        assert!(found.is_empty(), "{} uses {found:?}: see STYLE.md", path.display());
    }
}

/// What stands between backticks and looks like a path of this repository.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let tops = [
        "assignment/",
        "filter/",
        "ctl/",
        "wasm-tests/",
        "examples/",
        "envoyfilter-templates/",
        "docs/",
        "tools/",
    ];
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(move |quoted| {
        tops.iter().any(|top| quoted.starts_with(top)) && !quoted.contains([' ', '*', '<'])
    })
}

#[test]
fn every_path_that_the_pages_name_exists() {
    for page in ["ARCHITECTURE.md", "STYLE.md", "README.md", "CHANGELOG.md", "docs/development.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        for path in named_paths(&text) {
            let file = path.split("::").next().unwrap();
            assert!(root().join(file).exists(), "{page} names `{path}`, which does not exist");
        }
    }
}
