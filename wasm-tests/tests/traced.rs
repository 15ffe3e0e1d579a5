//! `docs/decision-tests.md` and `docs/rollout-reports.md` are true: every test that they name as the proof of a rule exists.

use std::path::Path;

/// A page whose rows name the tests that prove them.
struct Page {
    path: &'static str,
    /// Its letters, and the folders that they stand for.
    folders: &'static [(&'static str, &'static str)],
    /// It has at least so many tests.
    tests: usize,
}

const DECISIONS: Page = Page {
    path: "docs/decision-tests.md",
    folders: &[
        ("N", "filter/tests/decisions"),
        ("W", "wasm-tests/tests/wasm"),
        ("A", "assignment/tests"),
        ("E", "wasm-tests/tests/envoy"),
        ("F", "wasm-tests/tests/fuzz"),
    ],
    tests: 151,
};

const REPORTS: Page = Page {
    path: "docs/rollout-reports.md",
    folders: &[
        ("R", "ctl/release/tests/rollout_machine"),
        ("V", "ctl/release/src"),
        ("O", "ctl/operations/tests/operations/rollouts"),
        ("S", "wasm-tests/studies/evidence/tests"),
        ("K", "wasm-tests/tests/api"),
        ("M", "wasm-tests/tests/mesh"),
    ],
    tests: 30,
};

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

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn every_test_that_the_tables_name_exists() {
    for Page { path, folders, tests } in [DECISIONS, REPORTS] {
        let page = std::fs::read_to_string(root().join(path)).unwrap();
        let mut count = 0;
        for (letter, file, test) in named(&page) {
            let folder = folders.iter().find(|(short, _)| *short == letter).map(|(_, folder)| *folder);
            let folder = folder
                .unwrap_or_else(|| panic!("{path}: `{file}::{test}` has the unknown letter `{letter}`"));
            let source = root().join(folder).join(format!("{file}.rs"));
            let text = std::fs::read_to_string(&source)
                .unwrap_or_else(|error| panic!("{path}: {}: {error}", source.display()));
            assert!(
                text.contains(&format!("fn {test}(")),
                "{path}: {} has no test `{test}`",
                source.display()
            );
            count += 1;
        }
        assert!(count >= tests, "{path}: {count} tests were found on the page, expected {tests}");
    }
}

#[test]
fn every_row_of_the_tables_has_a_proof() {
    for Page { path, .. } in [DECISIONS, REPORTS] {
        let page = std::fs::read_to_string(root().join(path)).unwrap();
        let is_rule =
            |line: &&str| line.starts_with("| ") && !line.starts_with("| ---") && !line.starts_with("| r");
        for line in page.lines().filter(is_rule) {
            assert!(named(line).next().is_some(), "{path}: no test for: {line}");
        }
    }
}
