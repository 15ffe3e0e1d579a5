//! What runs at the place of publication: only code that was named by its commit, and nothing that builds may write.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use serde_json::Value;
use std::path::{Path, PathBuf};

fn workflows() -> Vec<(PathBuf, String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows");
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 2, "the workflows are there: {files:?}");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let value = serde_saphyr::from_str(&text).unwrap();
        (path, text, value)
    };
    files.into_iter().map(read).collect()
}

fn jobs(workflow: &Value) -> impl Iterator<Item = (&String, &Value)> {
    workflow["jobs"].as_object().unwrap().iter()
}

fn steps(job: &Value) -> &Vec<Value> {
    job["steps"].as_array().unwrap()
}

fn uses(step: &Value, action: &str) -> bool {
    step["uses"].as_str().is_some_and(|uses| uses.starts_with(action))
}

#[test]
fn every_action_is_named_by_its_commit_with_its_version_beside_it() {
    for (path, text, _) in workflows() {
        for line in text.lines().filter(|line| line.contains("uses:")) {
            let (_, named) = line.split_once('@').unwrap();
            let (commit, version) = named.split_once(" # ").unwrap_or((named, ""));
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(
                is_commit && version.starts_with('v'),
                "{}: expected `@COMMIT # vVERSION`, found `{line}`",
                path.display()
            );
        }
    }
}

#[test]
fn a_job_that_may_write_checks_nothing_out_and_builds_nothing() {
    let mut writers = 0;
    for (path, _, workflow) in workflows() {
        let for_all = &workflow["permissions"];
        assert!(for_all.is_object(), "{}: expected `permissions` for all jobs", path.display());
        for (name, job) in jobs(&workflow) {
            let rights = job.get("permissions").unwrap_or(for_all);
            if !rights.to_string().contains("write") {
                continue;
            }
            writers += 1;
            let place = format!("{}: job `{name}` may write", path.display());
            for step in steps(job) {
                assert!(!uses(step, "actions/checkout@"), "{place}, and checks out");
                let run = step["run"].as_str().unwrap_or_default();
                let builds = ["cargo", "rustup", "./x", ".ci/"].iter().find(|tool| run.contains(**tool));
                assert!(builds.is_none(), "{place}, and runs `{run}`");
            }
        }
    }
    assert_eq!(writers, 1, "one job publishes");
}

#[test]
fn a_checkout_leaves_no_token_behind_and_a_compiler_has_a_version() {
    for (path, text, workflow) in workflows() {
        for (name, job) in jobs(&workflow) {
            for step in steps(job).iter().filter(|step| uses(step, "actions/checkout@")) {
                let kept = &step["with"]["persist-credentials"];
                assert_eq!(*kept, Value::Bool(false), "{}: job `{name}`", path.display());
            }
        }
        for toolchain in text.split("rustup toolchain install ").skip(1) {
            let version = toolchain.split(' ').next().unwrap();
            let parts: Vec<&str> = version.split('.').collect();
            let is_version = parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok());
            assert!(is_version, "{}: expected a version as `1.95.0`, found `{version}`", path.display());
        }
    }
}
