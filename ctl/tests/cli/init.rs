//! A first canary.yaml is one that everything else accepts.

use crate::kit::{Desk, golden};
use std::os::unix::fs::PermissionsExt as _;

const FLAGS: &str = "--name shop --namespace shop --host shop.example.com --session-cookie SID --canary v2";

#[test]
fn what_init_writes_can_be_linted_and_generated() {
    let desk = Desk::new();
    desk.run(&format!("init {FLAGS}")).says(
        0,
        "",
        "canary.yaml written
keys are in keys.json: keep them secret, and keep them
  hint: `canary-ctl prepare` makes running proxies ready for a first filter; then `canary-ctl generate --keys keys.json | kubectl apply --server-side -f -`\n",
    );
    assert_eq!(desk.run("lint").code, 0);
    assert_eq!(desk.run("generate --keys keys.json").code, 0);
    let mode = std::fs::metadata(desk.path("keys.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_is_overwritten_only_by_force_and_keys_never() {
    let desk = Desk::new();
    desk.run(&format!("init {FLAGS}"));
    let keys = desk.read("keys.json");
    desk.run(&format!("init {FLAGS}")).says(
        2,
        "",
        "error: canary.yaml is there already\n  hint: give `--force` to overwrite it, or `-f FILE` for another\n",
    );
    assert_eq!(desk.run(&format!("init {FLAGS} --force")).code, 0);
    assert_eq!(desk.read("keys.json"), keys);
}

#[test]
fn a_local_release_and_one_by_claim_are_as_they_were() {
    let local = "init --dry-run --local --name shop --host localhost --session-cookie SID --canary v2 \
        --endpoint v1=127.0.0.1:9001 --endpoint v2=127.0.0.1:9002";
    let by_claim =
        "init --dry-run --name api --namespace shop --host api.example.com --jwt-claim sub --canary v2";
    for (name, line) in [("init-local.yaml", local), ("init-claim.yaml", by_claim)] {
        let ran = Desk::new().run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        // The uid is random.
        let lines = ran.stdout.lines().filter(|line| !line.starts_with("  uid: "));
        golden(name, &lines.flat_map(|line| [line, "\n"]).collect::<String>());
    }
}

#[test]
fn flags_that_make_no_release_are_told_as_faults_of_the_file() {
    let ran = Desk::new().run("init --local --name shop --host x --session-cookie SID --canary v2");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("expected an endpoint of version `v1`, found none"), "{}", ran.stderr);
}
