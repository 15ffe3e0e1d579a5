//! Commands of the first pages print what these pages show.
//!
//! Every `console` block of a page is run, in order, in one directory; a command must print what is shown below it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::path::Path;
use std::process::Command;

const DEMO: &str = "$ ./x demo --once\n";

struct Step {
    command: String,
    shown: String,
}

/// The commands of all `console` blocks, each with what is shown under it.
fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let blocks = readme.split("```console\n").skip(1);
    // The demo's output has times and shares of its own; `./x test` runs it and goes by its exit code.
    for block in blocks.filter(|block| !block.starts_with(DEMO)) {
        for line in block.split("\n```").next().unwrap().lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_owned(), shown: String::new() });
            } else {
                let shown = &mut steps.last_mut().unwrap().shown;
                shown.push_str(line);
                shown.push('\n');
            }
        }
    }
    steps
}

/// What a shell prints for a command, errors and messages included.
fn run(command: &str, directory: &Path) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_canary-ctl")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let script = format!("{command} 2>&1");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("PATH", path)
        .env("COLUMNS", "200")
        .current_dir(directory)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_of_the_first_pages_prints_what_they_show() {
    let readme = include_str!("../../README.md");
    assert!(readme.contains(DEMO), "the README shows the demo");
    let steps = [readme, include_str!("../../docs/concepts.md")].map(steps);
    for steps in &steps {
        let directory = tempfile::tempdir().unwrap();
        for Step { command, shown } in steps {
            assert_eq!(&run(command, directory.path()), shown, "`{command}`");
        }
    }
    let count = steps.iter().flatten().count();
    assert!(count >= 5, "the pages show their commands in `console` blocks, found {count}");
}
