//! The controller beside the command line: the chart has what `generate controller` prints, a dry run, and what `status` says of it.

use crate::cli_fixture::CliFixture;
use canary_operations::RolloutDriver;
use canary_release::rollout::DriverKind;
use fake_api_server::fixture::{apply, create_service, document, release, run, shop};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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

#[test]
fn a_dry_run_prints_what_each_release_would_get_and_writes_nothing() {
    run(async {
        let api = shop();
        let object = |name: &str| {
            let changes =
                json!({"service": {"name": name, "port": 80}, "hosts": [format!("{name}.example.com")]});
            let mut object: Value = serde_json::from_str(&document(&changes)).unwrap();
            object["metadata"]["name"] = json!(name);
            object["metadata"]["namespace"] = json!("shop");
            object
        };
        create_service(&api, "blog");
        for name in ["shop", "blog"] {
            api.state().create(&object(name));
        }
        api.state().create(&json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "ReleaseGrant",
            "metadata": {"name": "shop", "namespace": "ingress"},
            "spec": {"from": ["shop"], "hosts": ["shop.example.com"], "modules": ["oci://"]}}));
        let cli = CliFixture::new();
        std::fs::create_dir(cli.path(".kube")).unwrap();
        cli.write(".kube/config", &api.kubeconfig().await);
        let writes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&writes);
        api.before_write(move |_, line| seen.lock().unwrap().push(line.to_owned()));

        let printed = cli.run("controller --dry-run");
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        let expected = "shop/blog: refuse: expected a ReleaseGrant";
        assert!(printed.stdout.starts_with(expected), "{}", printed.stdout);
        assert!(printed.stdout.contains("\nshop/shop: apply\n+ EnvoyFilter ingress/"), "{}", printed.stdout);
        let printed = cli.run("controller --dry-run -n shop -o json");
        let printed: Value = serde_json::from_str(&printed.stdout).unwrap();
        assert_eq!(printed["releases"][0]["action"], "refuse", "{printed:#}");
        assert_eq!(printed["releases"][1]["plan"]["changes"][0]["action"], "create", "{printed:#}");
        let writes = writes.lock().unwrap();
        let asked: Vec<&String> = writes.iter().filter(|line| !line.contains("reviews")).collect();
        assert!(asked.is_empty(), "{asked:?}");
    });
}

/// A rollout that a controller drives, as the command line names it.
#[test]
fn status_and_rollout_status_name_the_controller_and_what_it_does() {
    run(async {
        let api = shop();
        let name = "canary-ctl.io/carried-out-by";
        let mut release = release(&json!({"rollout": {"plans": {"default": [{"weight": 1, "hold": "1h"}]}}}));
        release.metadata.annotations.insert(name.to_owned(), "controller".to_owned());
        let cluster = api.cluster().await;
        apply(&cluster, &release).await.unwrap();
        let stored = cluster.get_record(&release.name).await.unwrap();
        cluster.start_rollout(&release.name, stored, (&release.rollout, "default"), &[]).await.unwrap();
        let driver = RolloutDriver::new(&cluster, release.name.clone(), Duration::from_secs(1));
        let mut driver = driver.with_identity(DriverKind::Controller, "canary-controller-0".to_owned());
        driver.reconcile(Timestamp::now()).await.unwrap();

        let cli = CliFixture::new();
        std::fs::create_dir(cli.path(".kube")).unwrap();
        cli.write(".kube/config", &api.kubeconfig().await);
        let status = |line: &str| cli.run(line).stdout;
        let without = status("status shop/shop --window 1s");
        assert!(without.contains("the controller carries it out, and its object has no status"), "{without}");
        assert!(without.contains("\ndriven by the controller (canary-controller-0) since "), "{without}");
        let rollout = status("rollout status shop/shop");
        assert!(rollout.contains("\ndriven by the controller (canary-controller-0) since "), "{rollout}");
        let rollout: Value = serde_json::from_str(&status("rollout status shop/shop -o json")).unwrap();
        assert_eq!(rollout["rollout"]["driver"]["kind"], "controller", "{rollout:#}");

        api.state().create(&json!({"apiVersion": "canary-ctl.io/v1alpha1", "kind": "Release",
            "metadata": {"name": "shop", "namespace": "shop"},
            "status": {"phase": "Failed", "driver": "canary-controller-0", "waitingFor": "expected a ReleaseGrant"}}));
        let with = status("status shop/shop --window 1s");
        let expected =
            "\nthe controller (canary-controller-0) carries it out: Failed, expected a ReleaseGrant\n";
        assert!(with.contains(expected), "{with}");
    });
}
