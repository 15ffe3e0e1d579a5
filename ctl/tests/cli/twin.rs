//! Two versions of a chart: files and stdin in, objects, decisions and refusals out.

mod hostile;

use crate::cli_fixture::{CliFixture, golden, repository};
use placed_yaml as yaml;

fn chart(image: &str, more: &str) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata: {{name: shop}}
spec: {{selector: {{app: shop}}, ports: [{{port: 80}}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: shop-config}}
data: {{image: '{image}', mode: \"0644\"}}
---
apiVersion: v1
kind: Secret
metadata: {{name: db}}
stringData: {{password: secret-of-{image}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: shop}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: shop}}}}
  template:
    metadata: {{labels: {{app: shop}}}}
    spec:
      containers: [{{name: shop, image: 'shop:{image}'}}]
      volumes:
        - {{name: c, configMap: {{name: shop-config, defaultMode: 0644}}}}
        - {{name: s, secret: {{secretName: db}}}}
{more}"
    )
}

/// `canary.yaml` and version 1 as it is deployed.
fn fixture() -> CliFixture {
    let cli = CliFixture::new();
    let release = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    cli.write("canary.yaml", &release).write("v1.yaml", &chart("1", "")).write("v2.yaml", &chart("2", ""));
    let ran = cli.run("twin render --rendered v1.yaml");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    cli.write("deployed.yaml", &ran.stdout);
    cli
}

const BOTH: &str = "--deployed deployed.yaml --rendered v2.yaml";

#[test]
fn both_versions_are_rendered_and_then_the_promoted_one_alone() {
    let cli = fixture();
    let ran = cli.run(&format!("twin render {BOTH} --share db"));
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (0, "warning: the canary runs with stable's Secret db until the promotion is finished\n")
    );
    golden("twin-render.yaml", &ran.stdout);
    cli.write("both.yaml", &ran.stdout);
    let ran = cli.run("twin render --deployed both.yaml --rendered v2.yaml --share db --finish");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    golden("twin-render-finish.yaml", &ran.stdout);
    let ran = cli.run("twin render --deployed both.yaml --rendered v1.yaml --alone");
    assert_eq!((ran.code, ran.stdout), (0, cli.read("deployed.yaml")), "the way back");
}

#[test]
fn the_guide_has_a_row_for_each_check_and_says_which_can_be_skipped() {
    let guide = std::fs::read_to_string(repository("docs/helm.md")).unwrap();
    for check in helm_twins::Check::ALL {
        let name = format!("| `{}` |", check.name());
        let row = guide.lines().find(|line| line.starts_with(&name)).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(row.ends_with("| yes |"), check.can_be_skipped(), "{row}");
    }
}

/// `promote` says to change the file, and Helm comes after it.
#[test]
fn the_end_of_a_promotion_is_the_same_by_the_file_of_before_it_and_by_those_of_after_it() {
    let cli = fixture();
    let both = cli.run(&format!("twin render {BOTH} --share db")).stdout;
    cli.write("both.yaml", &both);
    let finish = "twin render --deployed both.yaml --rendered v2.yaml --share db --finish";
    let before = cli.run(finish);
    let file = cli.read("canary.yaml");
    for (versions, of) in [("stable: v2", "after it"), ("stable: v2\n    canary: v3", "the next canary")] {
        cli.write("canary.yaml", &file.replace("stable: v1\n    canary: v2", versions));
        assert_ne!(cli.read("canary.yaml"), file);
        let after = cli.run(finish);
        assert_eq!(
            (after.code, after.stdout),
            (0, before.stdout.clone()),
            "the file of {of}: {}",
            after.stderr
        );
    }
}

#[test]
fn a_refused_chart_gives_no_object_and_a_hint() {
    let ran = fixture().run(&format!("twin render {BOTH}"));
    ran.expect_output(
        2,
        "",
        "error: the chart is refused: random-secret: Secret db: expected a Secret that is the same in both versions, or a decision \
         whether its difference is meant, found neither: charts make random passwords\n  hint: `--share NAME` keeps stable's, \
         `--twin-secret NAME` gives the canary its own; `--rendered-again FILE` finds random ones\n",
    );
}

#[test]
fn a_check_lists_every_refusal_and_ends_with_one() {
    let cli = fixture();
    let hook = "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: m, annotations: {helm.sh/hook: pre-upgrade}}}\n";
    cli.write("v2.yaml", &chart("2", hook));
    let ran = cli.run(&format!("twin check {BOTH}"));
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    golden("twin-check.txt", &ran.stdout);
    let json = cli.run(&format!("twin check {BOTH} -o json"));
    let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let checks: Vec<_> =
        report["refusals"].as_array().unwrap().iter().map(|one| one["check"].as_str().unwrap()).collect();
    assert_eq!((json.code, checks), (1, vec!["hooks-answered", "random-secret"]));
    let answered = cli.run(&format!("twin check {BOTH} --hooks skip --twin-secret db"));
    assert_eq!((answered.code, answered.stderr.as_str()), (0, ""), "{}", answered.stdout);
}

#[test]
fn a_second_render_finds_what_is_random() {
    let cli = fixture();
    cli.write("again.yaml", &chart("2", "").replace("secret-of-2", "another"));
    let ran = cli.run(&format!("twin check {BOTH} --rendered-again again.yaml"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_diff_names_each_object_its_fate_and_its_fields() {
    let ran = fixture().run(&format!("twin diff {BOTH} --twin-secret db"));
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(!ran.stdout.contains("secret-of"), "no Secret is shown");
    golden("twin-diff.txt", &ran.stdout);
}

#[test]
fn a_post_renderer_prints_what_render_prints_and_writes_its_report() {
    let cli = fixture();
    let render = cli.run(&format!("twin render {BOTH} --twin-secret db"));
    let line = "twin post-render --deployed=deployed.yaml --twin-secret=db --report-file=report.json";
    let ran = cli.run_with_stdin(line, &chart("2", ""));
    assert_eq!((ran.code, &ran.stdout), (0, &render.stdout));
    let report: serde_json::Value = serde_json::from_str(&cli.read("report.json")).unwrap();
    assert_eq!(report["decisions"].as_array().unwrap().len(), 4);
    let refused = cli.run_with_stdin(
        "twin post-render --deployed=deployed.yaml --report-file=report.json",
        &chart("2", ""),
    );
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    let report: serde_json::Value = serde_json::from_str(&cli.read("report.json")).unwrap();
    assert_eq!(report["refusals"][0]["check"], "random-secret");
}

#[test]
fn a_plugin_is_printed_or_written() {
    let cli = CliFixture::new();
    let printed = cli.run("twin plugin --dry-run plugin");
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
    assert!(!cli.path("plugin").exists());
    assert_eq!(cli.run("twin plugin plugin").code, 0);
    assert_eq!(cli.read("plugin/plugin.yaml"), printed.stdout);
}

#[test]
fn an_adoption_takes_namespace_and_label_from_a_file_or_from_the_command_line() {
    let cli = fixture();
    for (line, expected) in [
        ("twin adopt shop -n shop", "--label <NAME=VALUE>"),
        ("twin adopt shop --label version=v1", "--namespace <NAMESPACE>"),
        ("twin adopt shop -n shop --label version=v1 -f canary.yaml", "cannot be used with"),
        ("twin adopt shop -n shop --label version", "expected a label and a value"),
        ("twin adopt shop/scale", "expected the name of a Deployment"),
        ("twin adopt shop -f missing.yaml", "missing.yaml"),
    ] {
        let ran = cli.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(ran.stderr.contains(expected), "{line}: expected `{expected}` in {}", ran.stderr);
    }
}

#[test]
fn the_rights_of_an_adoption_are_printed_on_request() {
    let cli = fixture();
    let resources = ["deployments", "replicasets", "horizontalpodautoscalers", "canary-ctl-adoption"];
    let named = |line: &str| -> Vec<&str> {
        let ran = cli.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
        resources.into_iter().filter(|resource| ran.stdout.contains(resource)).collect()
    };
    assert_eq!(named("generate rbac --user alice --adopt"), resources);
    assert_eq!(named("generate rbac --user alice"), [""; 0]);
}

#[test]
fn the_rights_to_wait_for_a_version_and_to_see_its_drift_are_printed_on_request() {
    let cli = fixture();
    let resources = [
        "deployments",
        "replicasets",
        "statefulsets",
        "daemonsets",
        "pods/log",
        "- events\n    verbs:\n      - list",
    ];
    let named = |line: &str| -> Vec<&str> {
        let ran = cli.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
        resources.into_iter().filter(|resource| ran.stdout.contains(resource)).collect()
    };
    assert_eq!(named("generate rbac --user alice --twins"), resources);
    assert_eq!(named("generate rbac --user alice"), [""; 0]);
}

#[test]
fn an_admission_policy_is_printed_for_a_release_on_a_cluster() {
    let cli = fixture();
    let printed = cli.run("generate admission-policy");
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
    assert_eq!(yaml::documents(&printed.stdout).unwrap().len(), 4, "two policies and their bindings");
    golden("admission-policy.yaml", &printed.stdout);
}
