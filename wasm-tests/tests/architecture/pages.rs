//! Pages and scripts: each path that they name exists, packages have hashes, no control characters.

use crate::root;
use std::path::PathBuf;
use std::process::Command;

/// A tool that rewraps text may leave one in the place of a space; a terminal shows nothing.
#[test]
fn no_source_and_no_page_holds_a_control_character() {
    let output = Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    let files = String::from_utf8(output.stdout).unwrap();
    let is_text = |name: &&str| [".rs", ".md", ".toml", ".yaml", ".sh"].iter().any(|end| name.ends_with(end));
    let texts: Vec<&str> = files.lines().filter(is_text).collect();
    assert!(texts.len() > 500, "git lists the files: {}", texts.len());
    for name in texts {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        let found = text.find(|letter: char| letter.is_control() && letter != '\n');
        assert_eq!(found, None, "{name}: byte of a control character");
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

/// The commands of a script: lines that are no comment, and continued lines as one.
fn commands(text: &str) -> Vec<String> {
    let lines = text.replace("\\\n", " ");
    lines.lines().map(str::trim).filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn scripts_install_packages_by_their_hashes_and_obey_the_lock_file() {
    let mut scripts: Vec<PathBuf> = ["x", "justfile", ".ci/run"].map(|name| root().join(name)).into();
    let tools = std::fs::read_dir(root().join("tools")).unwrap().map(|entry| entry.unwrap().path());
    scripts.extend(tools.filter(|path| path.extension().is_some_and(|kind| kind == "sh")));
    assert!(scripts.len() > 15, "the scripts are there: {scripts:?}");
    let builds = ["build", "test", "clippy", "doc", "run", "install"];
    for path in scripts {
        for command in commands(&std::fs::read_to_string(&path).unwrap()) {
            let words: Vec<&str> = command.split(' ').collect();
            let compiles =
                words.windows(2).any(|pair| pair[0].ends_with("cargo") && builds.contains(&pair[1]));
            // `cargo clippy --version` compiles nothing.
            let unlocked = compiles && !command.contains("--locked") && !command.contains("--version");
            assert!(!unlocked, "{}: expected `--locked`, found `{command}`", path.display());
            let installs = command.contains("pip install") && !command.contains("--dry-run");
            let unhashed = installs && !command.contains("--require-hashes");
            assert!(!unhashed, "{}: expected `--require-hashes`, found `{command}`", path.display());
        }
    }
}

#[test]
fn every_pinned_package_has_hashes_for_both_processors() {
    for entry in std::fs::read_dir(root().join("tools/requirements")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let packages = text.lines().filter(|line| line.contains("==")).count();
        let hashes = text.matches("--hash=sha256:").count();
        assert!(packages == 1 && hashes >= 2, "{}: {packages} packages, {hashes} hashes", path.display());
    }
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
