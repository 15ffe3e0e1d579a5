//! The chart of the controller has the objects that `generate controller` prints.

use crate::cli_fixture::CliFixture;
use std::path::{Path, PathBuf};

/// Their kinds: they are no template, because their descriptions contain braces.
const DEFINITION: &str = "kind: CustomResourceDefinition\n";
/// Helm makes the namespace.
const NAMESPACE: &str = "kind: Namespace\n";

/// A file of the chart, or its text with `UPDATE_GOLDEN=1`.
fn assert_chart_has(name: &str, text: &str) {
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("controller/chart");
    let path: PathBuf = chart.join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(found == text, "{name} differs; UPDATE_GOLDEN=1 writes it");
}

#[test]
fn the_chart_has_what_generate_controller_prints() {
    let cli = CliFixture::new();
    let words = [
        "generate",
        "controller",
        "--image",
        "{{ .Values.image }}",
        "--namespace",
        "{{ .Release.Namespace }}",
    ];
    let printed = cli.run_words(&words);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let (mut definitions, mut others) = (String::new(), String::new());
    for object in printed.stdout.split("---\n").filter(|object| !object.is_empty()) {
        let is_kept = "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n";
        if object.contains(DEFINITION) {
            definitions += "---\n";
            definitions += &object.replacen("metadata:\n", is_kept, 1);
        } else if !object.contains(NAMESPACE) {
            others += "---\n";
            others += object;
        }
    }
    assert_eq!(definitions.matches(DEFINITION).count(), 2);
    assert_chart_has("definitions.yaml", &definitions);
    assert_chart_has("templates/controller.yaml", &others);
}
