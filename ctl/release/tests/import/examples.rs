//! Each example: its exit code, what is lost, and the release that is made of it.

use super::{PEERS, examples_of, folder, import, options};
use canary_release::file;
use canary_release::import::{Difference, Import};
use std::fmt::Write as _;
use std::path::Path;

/// A golden, or the file again where it is asked for.
fn compare(path: &Path, found: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    let differing = expected.lines().zip(found.lines()).find(|(one, other)| one != other);
    assert!(expected == found, "{} differs (UPDATE_GOLDEN=1 writes it): {differing:?}", path.display());
}

fn line(difference: &Difference) -> String {
    let (importance, fate) = (difference.importance.as_str(), difference.fate.as_str());
    format!(
        "  {importance} {fate} {}: {}\n    -> {}\n",
        difference.origin, difference.difference, difference.action
    )
}

#[test]
fn each_example_has_its_exit_code_and_its_list_of_differences() {
    for (peer, name) in PEERS {
        let mut found = String::new();
        let examples = examples_of(name);
        assert_eq!(examples.len(), 20, "{name}");
        for (example, text) in examples {
            let import = import(peer, &format!("{example}.yaml"), &text, &options());
            let exit = u8::from(!import.keeps_guards());
            let _ = writeln!(found, "{example}: exit {exit}");
            import.differences.iter().for_each(|difference| found.push_str(&line(difference)));
        }
        compare(&folder().join(format!("golden/{name}.txt")), &found);
    }
}

#[test]
fn the_reader_accepts_each_release_and_the_first_ones_are_as_committed() {
    for (peer, name) in PEERS {
        for (example, text) in examples_of(name) {
            let import = import(peer, &format!("{example}.yaml"), &text, &options());
            file::parse(Path::new("canary.yaml"), &import.release)
                .unwrap_or_else(|error| panic!("{name}/{example}: {error}\n{}", import.release));
            if example.starts_with("01") {
                let steps = serde_json::to_string_pretty(&import.steps).unwrap() + "\n";
                compare(&folder().join(format!("golden/{name}-{example}.yaml")), &import.release);
                compare(&folder().join(format!("golden/{name}-{example}.steps.json")), &steps);
            }
        }
    }
}

/// Each guard of a source is in the release, or among the differences: so many in, so many out.
#[test]
fn no_metric_and_no_hook_goes_without_a_word() {
    for (peer, name) in PEERS {
        for (example, text) in examples_of(name) {
            let import = import(peer, "source.yaml", &text, &options());
            let release = file::parse(Path::new("canary.yaml"), &import.release).unwrap().release;
            let written = release.rollout.analysis.metrics.len() + release.rollout.hooks.hooks.len();
            let of_source = text.matches("thresholdRange").count()
                + text.matches("threshold: 98").count()
                + text.matches("  threshold: 5\n        interval").count()
                + text.matches("provider: {prometheus").count()
                + text.matches("type: confirm-").count();
            let is_said = |difference: &&Difference| {
                difference.loses_guard() || difference.difference.contains("dryRun")
            };
            let said = import.differences.iter().filter(is_said).count();
            assert!(
                written + said >= of_source,
                "{name}/{example}: {of_source} in, {written} and {said} out"
            );
        }
    }
}

const HEAD: &str = "# Examples that were imported

<!-- Written by `UPDATE_GOLDEN=1 cargo test -p canary-release --locked --test import`; do not edit. -->

Twenty `Canary`s and twenty `Rollout`s in our words, after shapes that public repositories and the documentation of both tools have. They are read from
files. Each release is one that the reader accepts. *Exit 1*: a guard of users is lost, and named.

";

#[test]
fn the_page_says_what_goes_through() {
    let mut page = HEAD.to_owned();
    for (peer, name) in PEERS {
        let title = if name == "argo" { "Argo Rollouts" } else { "Flagger" };
        let _ = writeln!(
            page,
            "## {title}\n\n| example | steps | metrics | hooks | alerts | exit | guards that are lost |"
        );
        page.push_str("| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
        for (_, text) in examples_of(name) {
            let import = import(peer, "source.yaml", &text, &options());
            page.push_str(&row(&text, &import));
        }
        page.push('\n');
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/imported-examples.md");
    compare(&path, &format!("{}\n", page.trim_end()));
}

fn row(text: &str, import: &Import) -> String {
    let about = text.lines().next().unwrap().trim_start_matches("# ").trim_end_matches('.').to_owned();
    let release = file::parse(Path::new("canary.yaml"), &import.release).unwrap().release;
    let rollout = &release.rollout;
    let plan = rollout.plans.get("default").map_or(0, Vec::len);
    let mut lost: Vec<String> = import
        .differences
        .iter()
        .filter(|difference| difference.loses_guard())
        .map(|difference| format!("`{}`", difference.origin.field.trim_start_matches("spec.")))
        .collect();
    lost.dedup();
    let (metrics, hooks) = (rollout.analysis.metrics.len(), rollout.hooks.hooks.len());
    let (alerts, exit) = (rollout.alerts.receivers.len(), u8::from(!import.keeps_guards()));
    let lost = if lost.is_empty() { "–".to_owned() } else { lost.join(", ") };
    format!("| {about} | {plan} | {metrics} | {hooks} | {alerts} | {exit} | {lost} |\n")
}
