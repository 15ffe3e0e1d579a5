//! `ARCHITECTURE.md` and the docs are true: the crates depend on each other as drawn, and what they name exists.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by panicking"
)]

mod floors;

use proc_macro2::{Group, TokenStream, TokenTree};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
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
    assert_eq!(depends_on(&metadata, "canary-release"), only(&["assignment"]));
    assert_eq!(depends_on(&metadata, "canary-operations"), only(&["assignment", "canary-release"]));
    assert_eq!(depends_on(&metadata, "cookie-jar"), only(&[]), "the jar stands alone");
    assert_eq!(depends_on(&metadata, "helm-twins"), only(&["canary-release"]), "for its YAML reader");
    let libraries = only(&["assignment", "canary-operations", "canary-release", "cookie-jar", "helm-twins"]);
    assert_eq!(depends_on(&metadata, "canary-ctl"), libraries);
    for kit in ["wasm-host", "programs"] {
        assert_eq!(depends_on(&metadata, kit), only(&[]), "{kit} stands alone");
    }
    let jar = "simulated users have the cookie jar that `verify` has";
    assert_eq!(depends_on(&metadata, "browser"), only(&["cookie-jar"]), "{jar}");
    let metrics = "the parser of metrics is that of the release library";
    assert_eq!(
        depends_on(&metadata, "envoy-kit"),
        only(&["browser", "canary-release", "programs"]),
        "{metrics}"
    );
    assert_eq!(
        depends_on(&metadata, "evidence-bench"),
        only(&["canary-release"]),
        "the simulation needs neither proxy nor cluster"
    );
    assert_eq!(depends_on(&metadata, "mesh-lab"), only(&["browser", "envoy-kit", "programs"]));
    assert_eq!(
        depends_on(&metadata, "bench"),
        only(&["assignment", "browser", "canary-ctl", "canary-release", "envoy-kit", "programs"]),
        "the benchmark links neither the lab nor the host"
    );
    assert_eq!(depends_on(&metadata, "demo"), only(&["browser", "canary-ctl", "canary-release", "programs"]));
    assert!(
        !depends_on(&metadata, "wasm-tests").contains("canary-filter"),
        "the tests use the built module, not the filter's Rust"
    );
}

#[test]
fn only_operations_name_kube_and_the_release_library_does_no_network_io() {
    for (folder, forbidden) in [
        ("ctl/src", &["kube", "k8s_openapi"][..]),
        ("ctl/release/src", &["kube", "k8s_openapi", "tokio", "hyper", "clap"]),
        ("ctl/operations/src", &["clap", "canary_ctl"]),
        ("ctl/twins/src", &["kube", "k8s_openapi", "tokio", "hyper", "clap", "std::fs", "std::process"]),
    ] {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        assert!(files.len() > 10, "{folder} holds sources: {files:?}");
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let named: Vec<_> = forbidden.iter().filter(|name| text.contains(&format!("{name}::"))).collect();
            assert!(named.is_empty(), "{} names {named:?}", path.display());
        }
    }
}

/// A source without its unit tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned()
}

#[test]
fn the_release_library_reads_no_clock() {
    let mut files = Vec::new();
    sources(&root().join("ctl/release/src"), &mut files);
    let is_test = |path: &&PathBuf| path.to_string_lossy().ends_with("_tests.rs");
    for path in files.iter().filter(|path| !is_test(path)) {
        let code = code(path);
        let found: Vec<_> = code.lines().filter(|line| line.contains("::now(")).collect();
        assert!(found.is_empty(), "{} reads a clock: {found:?}", path.display());
    }
}

#[test]
fn what_changes_a_record_lies_in_its_room() {
    let mut files = Vec::new();
    sources(&root().join("ctl/release/src"), &mut files);
    let room = root().join("ctl/release/src/record");
    let (inside, outside): (Vec<_>, Vec<_>) = files
        .iter()
        .filter(|path| code(path).contains("\nimpl Record {"))
        .partition(|path| path.starts_with(&room));
    assert!(outside.is_empty() && inside.len() > 5, "methods of Record in {outside:?}");
}

/// A further delivery mode or another kind of routes is a change of one folder.
#[test]
fn a_kind_of_istio_is_named_in_its_own_folders_alone() {
    let mut files = Vec::new();
    for folder in ["ctl/src", "ctl/release/src", "ctl/operations/src"] {
        sources(&root().join(folder), &mut files);
    }
    for (kind, folders) in [
        ("VirtualService", ["ctl/release/src/routing", "ctl/release/src/manifest"]),
        ("WasmPlugin", ["ctl/release/src/delivery", "ctl/release/src/spec"]),
        ("TrafficExtension", ["ctl/release/src/delivery", "ctl/release/src/spec"]),
    ] {
        let names = |path: &&PathBuf| code(path).contains(kind);
        let found: Vec<_> = files.iter().filter(names).collect();
        assert!(!found.is_empty() && found.len() <= 10, "{kind} is named in {found:#?}");
        let outside = |path: &&&PathBuf| !folders.iter().any(|folder| path.starts_with(root().join(folder)));
        let strays: Vec<_> = found.iter().filter(outside).collect();
        assert!(strays.is_empty(), "{kind} is named outside {folders:?}: {strays:#?}");
    }
}

/// The string literals of a source, those of attributes included; comments and doc comments are none.
fn string_literals(tokens: TokenStream) -> Vec<String> {
    let is_doc =
        |group: &Group| group.stream().into_iter().next().is_some_and(|first| first.to_string() == "doc");
    let literals = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) if is_doc(&group) => Vec::new(),
        TokenTree::Group(group) => string_literals(group.stream()),
        TokenTree::Literal(literal) => vec![literal.to_string()],
        TokenTree::Ident(_) | TokenTree::Punct(_) => Vec::new(),
    });
    literals.filter(|literal| literal.contains('"') && !literal.starts_with('\'')).collect()
}

#[test]
fn string_literals_are_found_and_comments_and_characters_are_none() {
    let source = r##"
        // it's "no" literal
        /// Nor `"this"`.
        const A: &'static str = "a \"quoted\" one"; // "no"
        const B: (char, char, &str) = ('"', '\'', "two");
        #[error("an attribute")]
        const C: &str = r#"raw "text" once"#;
    "##;
    assert_eq!(
        string_literals(source.parse().unwrap()),
        [r#""a \"quoted\" one""#, r#""two""#, r#""an attribute""#, r##"r#"raw "text" once"#"##]
    );
}

/// A controller has neither: errors are data there, and `ctl/src/hint/` says the words.
#[test]
fn no_text_of_the_libraries_names_a_command_or_a_flag_of_the_terminal_tool() {
    let is_flag = |after: &str| after.starts_with(|letter: char| letter.is_ascii_alphabetic());
    for folder in ["ctl/release/src", "ctl/operations/src", "ctl/twins/src"] {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        files.retain(|path| !path.to_string_lossy().ends_with("_tests.rs"));
        let mut count = 0;
        for path in files {
            for literal in string_literals(code(&path).parse().unwrap()) {
                let names_one = literal.contains("`canary-ctl ") || literal.split("--").skip(1).any(is_flag);
                assert!(!names_one, "{} names a command or a flag: {literal}", path.display());
                count += 1;
            }
        }
        assert!(count > 100, "{folder} has texts: {count}");
    }
}

/// What stands between backticks in a string literal, continued lines as one.
fn code_spans(literal: &str) -> Vec<String> {
    let lines = literal.split("\\\n").map(str::trim_start).collect::<String>();
    lines.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Names come from the cluster, and a shell obeys what is copied into it: `ShellCommand` (`ctl/src/hint/command.rs`) quotes a name, or leaves it out.
#[test]
fn a_command_with_a_name_in_it_is_built_by_its_type_and_not_by_a_format_string() {
    let programs = ["kubectl ", "helm ", "canary-ctl ", "docker ", "envoy ", "chmod ", "curl "];
    let mut files = Vec::new();
    for folder in ["ctl/src", "ctl/release/src", "ctl/operations/src", "ctl/twins/src"] {
        sources(&root().join(folder), &mut files);
    }
    files.retain(|path| !path.to_string_lossy().ends_with("_tests.rs"));
    let mut count = 0;
    for path in files {
        for literal in string_literals(code(&path).parse().unwrap()) {
            let spans = code_spans(&literal);
            let commands = spans.iter().filter(|span| programs.iter().any(|name| span.starts_with(name)));
            for command in commands {
                assert!(
                    !command.contains('{'),
                    "{}: expected `ShellCommand`, found `{command}`",
                    path.display()
                );
                count += 1;
            }
        }
    }
    assert!(count > 50, "the sources have commands: {count}");
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
        "ctl/release",
        "ctl/twins",
        "examples/demo",
        "examples/shop",
        "filter",
        "filter/module",
        "wasm-tests",
        "wasm-tests/bench",
        "wasm-tests/browser",
        "wasm-tests/envoy",
        "wasm-tests/evidence",
        "wasm-tests/host",
        "wasm-tests/lab",
        "wasm-tests/programs",
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
