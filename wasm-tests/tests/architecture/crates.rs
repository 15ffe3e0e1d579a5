//! What each crate and each room may name.

use crate::{code, root, sources};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

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
    assert_eq!(depends_on(&metadata, "placed-yaml"), only(&[]), "YAML knows no release");
    assert_eq!(depends_on(&metadata, "canary-release"), only(&["assignment", "placed-yaml"]));
    assert_eq!(depends_on(&metadata, "canary-operations"), only(&["assignment", "canary-release"]));
    assert_eq!(depends_on(&metadata, "cookie-jar"), only(&[]), "the jar stands alone");
    assert_eq!(depends_on(&metadata, "helm-twins"), only(&["canary-release", "placed-yaml"]));
    let below = only(&["assignment", "canary-operations", "canary-release"]);
    assert_eq!(depends_on(&metadata, "fake-api-server"), below, "the tests of both take its shop");
    assert_eq!(depends_on(&metadata, "canary-dashboard"), below);
    assert_eq!(depends_on(&metadata, "canary-controller"), below);
    let others = only(&["canary-controller", "canary-dashboard", "cookie-jar", "helm-twins", "placed-yaml"]);
    let libraries = below.into_iter().chain(others).collect();
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
    let decides = "the product's own code decides the simulated rollouts";
    assert_eq!(depends_on(&metadata, "traffic-model"), only(&["assignment", "canary-release"]), "{decides}");
    assert_eq!(depends_on(&metadata, "mesh-lab"), only(&["browser", "envoy-kit", "programs"]));
    assert_eq!(
        depends_on(&metadata, "demo"),
        only(&["browser", "canary-ctl", "canary-release", "placed-yaml", "programs"])
    );
    assert!(
        !depends_on(&metadata, "wasm-tests").contains("canary-filter"),
        "the tests use the built module, not the filter's Rust"
    );
}

#[test]
fn only_operations_and_the_controller_name_kube_and_the_release_library_does_no_network_io() {
    for (folder, forbidden) in [
        ("ctl/src", &["kube", "k8s_openapi"][..]),
        ("ctl/release/src", &["kube", "k8s_openapi", "tokio", "hyper", "clap"]),
        ("ctl/operations/src", &["clap", "canary_ctl"]),
        ("ctl/controller/src", &["clap", "canary_ctl"]),
        ("ctl/dashboard/src", &["kube", "k8s_openapi", "clap", "canary_ctl"]),
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

/// A further delivery mode or another kind of routes is a change of one folder. An import says what becomes of the objects of others, so it names them.
#[test]
fn a_kind_of_istio_is_named_in_its_own_folders_alone() {
    let mut files = Vec::new();
    for folder in ["ctl/src", "ctl/release/src", "ctl/operations/src"] {
        sources(&root().join(folder), &mut files);
    }
    for (kind, folders) in [
        (
            "VirtualService",
            &["ctl/release/src/routing", "ctl/release/src/manifest", "ctl/release/src/import"][..],
        ),
        ("WasmPlugin", &["ctl/release/src/delivery", "ctl/release/src/spec"]),
        ("TrafficExtension", &["ctl/release/src/delivery", "ctl/release/src/spec"]),
    ] {
        let names = |path: &&PathBuf| code(path).contains(kind);
        let found: Vec<_> = files.iter().filter(names).collect();
        assert!(!found.is_empty() && found.len() <= 12, "{kind} is named in {found:#?}");
        let outside = |path: &&&PathBuf| !folders.iter().any(|folder| path.starts_with(root().join(folder)));
        let strays: Vec<_> = found.iter().filter(outside).collect();
        assert!(strays.is_empty(), "{kind} is named outside {folders:?}: {strays:#?}");
    }
}
