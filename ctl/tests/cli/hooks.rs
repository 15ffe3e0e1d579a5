//! `rollout test-hooks` without a receiver.

use crate::cli_fixture::{CliFixture, repository};
use serde_json::Value;

const HOOKS: &str = "  rollout:
    hooks:
      - {name: gate, type: confirm-promotion, url: \"http://gates.test/secret\"}
      - name: load
        type: rollout
        urlFrom: {env: LOAD_URL}
        metadata: {type: cmd, cmd: \"hey http://shop/\", test: mine}
        signatureKeyFrom: {file: /run/keys}
";

fn fixture(rollout: &str) -> CliFixture {
    let cli = CliFixture::new();
    let example = std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap();
    cli.write("canary.yaml", &format!("{}\n{rollout}", example.trim_end()));
    cli
}

#[test]
fn a_dry_run_prints_each_marked_payload_and_where_url_and_key_stand() {
    let cli = fixture(HOOKS);
    let ran = cli.run("rollout test-hooks --dry-run");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for part in [
        "gate  confirm-promotion  would get {",
        "at the URL in the file of the release\n",
        "at the URL in environment variable `LOAD_URL`, signed by file /run/keys\n",
    ] {
        assert!(ran.stdout.contains(part), "expected `{part}` in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("secret"), "a URL is printed nowhere: {}", ran.stdout);
    let ran = cli.run("rollout test-hooks --dry-run --hook load -o json");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let [load] = report["hooks"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&load["name"], &load["isSigned"]), (&"load".into(), &true.into()));
    assert_eq!(load["payload"]["metadata"]["test"], "true", "a file does not take the mark away");
    assert_eq!(load["payload"]["metadata"]["cmd"], "hey http://shop/");
}

#[test]
fn a_receiver_that_is_away_a_key_that_is_missing_and_a_hook_that_does_not_exist_are_told() {
    let cli = fixture(&HOOKS.replace("gates.test/secret", "127.0.0.1:1/secret"));
    let ran = cli.run("rollout test-hooks");
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in ["gate  confirm-promotion  no response: ", "load  rollout            no response"] {
        assert!(ran.stdout.contains(part), "expected `{part}` in {}", ran.stdout);
    }
    let ran = cli.run("rollout test-hooks --hook lod");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("found `lod`") && ran.stderr.contains("hooks there: gate, load"), "{ran:?}");
    let ran = fixture("").run("rollout test-hooks");
    assert!(ran.code == 2 && ran.stderr.contains("expected hooks in `rollout.hooks`, found none"), "{ran:?}");
}
