//! `docs/decision-tests.md` is true: every test that it names as the proof of a rule exists.

use std::path::Path;

/// The letters of the page and the folders that they stand for.
const FOLDERS: [(&str, &str); 5] = [
    ("N", "filter/tests/decisions"),
    ("W", "wasm-tests/tests/wasm"),
    ("A", "assignment/tests"),
    ("E", "wasm-tests/tests/envoy"),
    ("F", "wasm-tests/tests/fuzz"),
];

/// Letter, file and test of everything like "N `rows::a_fact`".
fn named(page: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut parts = page.split('`');
    let mut before = parts.next().unwrap_or_default();
    let pairs = std::iter::from_fn(move || {
        let quoted = parts.next()?;
        let letter = before.trim_end_matches(' ').rsplit([' ', '\n']).next().unwrap_or_default();
        before = parts.next().unwrap_or_default();
        Some((letter, quoted))
    });
    pairs.filter_map(|(letter, quoted)| quoted.split_once("::").map(|(file, test)| (letter, file, test)))
}

#[test]
fn every_test_that_the_table_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/decision-tests.md")).unwrap();
    let mut count = 0;
    for (letter, file, test) in named(&page) {
        let folder = FOLDERS.iter().find(|(short, _)| *short == letter).map(|(_, folder)| *folder);
        let folder = folder.unwrap_or_else(|| panic!("`{file}::{test}` has the unknown letter `{letter}`"));
        let path = root.join(folder).join(format!("{file}.rs"));
        let source =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(source.contains(&format!("fn {test}(")), "{} has no test `{test}`", path.display());
        count += 1;
    }
    assert!(count > 150, "{count} tests were found on the page");
}

#[test]
fn every_row_of_the_table_has_a_proof() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = std::fs::read_to_string(root.join("docs/decision-tests.md")).unwrap();
    let is_rule =
        |line: &&str| line.starts_with("| ") && !line.starts_with("| ---") && !line.starts_with("| r");
    for line in page.lines().filter(is_rule) {
        assert!(named(line).next().is_some(), "no test for: {line}");
    }
}
