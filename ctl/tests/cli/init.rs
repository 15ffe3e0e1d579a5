//! A first canary.yaml is one that everything else accepts.

use crate::cli_fixture::{CliFixture, golden};
use std::os::unix::fs::PermissionsExt as _;

const FLAGS: &str = "--name shop --namespace shop --host shop.example.com --session-cookie SID --canary v2";

#[test]
fn what_init_writes_can_be_linted_and_generated() {
    let cli = CliFixture::new();
    cli.run(&format!("init {FLAGS}")).expect_output(
        0,
        "",
        "canary.yaml written
signing keys are in signing-keys.json: keep the file secret and safe; without it all pins and tokens are invalid
  hint: next: `canary-ctl prepare`, `canary-ctl doctor`, `canary-ctl apply --wait`\n",
    );
    assert_eq!(cli.run("lint").code, 0);
    assert_eq!(cli.run("generate --signing-keys signing-keys.json").code, 0);
    let mode = std::fs::metadata(cli.path("signing-keys.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_dash_in_the_place_of_the_file_is_stdout() {
    let cli = CliFixture::new();
    let ran = cli.run(&format!("init {FLAGS} -f -"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("kind: Release"), "{}", ran.stdout);
    assert!(!cli.path("-").exists() && !cli.path("signing-keys.json").exists());
}

#[test]
fn a_file_is_overwritten_only_by_force_and_keys_never() {
    let cli = CliFixture::new();
    cli.run(&format!("init {FLAGS}"));
    let keys = cli.read("signing-keys.json");
    cli.run(&format!("init {FLAGS}")).expect_output(
        2,
        "",
        "error: canary.yaml is there already\n  hint: give `--force` to overwrite it, or `-f FILE` for another\n",
    );
    let again = cli.run(&format!("init {FLAGS} --force"));
    assert_eq!(again.code, 0);
    assert!(
        again.stderr.contains("the signing keys that signing-keys.json had are kept\n"),
        "{}",
        again.stderr
    );
    assert_eq!(cli.read("signing-keys.json"), keys);
}

/// Whoever has published them can forge pins.
#[test]
fn keys_that_came_with_a_repository_are_not_taken_for_ones_that_were_drawn() {
    let theirs = CliFixture::new();
    theirs.run(&format!("init {FLAGS}"));
    let keys = theirs.read("signing-keys.json");
    let cli = CliFixture::new();
    cli.write("signing-keys.json", &keys);
    let ran = cli.run(&format!("init {FLAGS}"));
    let expected =
        "error: expected signing keys of this user alone in signing-keys.json, found a file of user ";
    assert!(ran.stderr.contains(expected) && ran.stderr.contains("with mode 644\n  hint: "), "{ran:?}");
    assert_eq!((ran.code, cli.read("signing-keys.json")), (2, keys));
}

#[test]
fn a_local_release_and_one_by_claim_are_as_they_were() {
    let local = "init --dry-run --local --name shop --host localhost --session-cookie SID --canary v2 \
        --endpoint v1=127.0.0.1:9001 --endpoint v2=127.0.0.1:9002";
    let by_claim =
        "init --dry-run --name api --namespace shop --host api.example.com --jwt-claim sub --canary v2";
    for (name, line) in [("init-local.yaml", local), ("init-claim.yaml", by_claim)] {
        let ran = CliFixture::new().run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        // The uid is random.
        let lines = ran.stdout.lines().filter(|line| !line.starts_with("  uid: "));
        golden(name, &lines.flat_map(|line| [line, "\n"]).collect::<String>());
    }
}

#[test]
fn a_local_release_sets_cookies_that_come_back_without_tls() {
    let cli = CliFixture::new();
    let line = "init --local --name shop --host localhost --session-cookie SID --canary v2 \
        --endpoint v1=127.0.0.1:9001 --endpoint v2=127.0.0.1:9002";
    let written = cli.run(line);
    assert_eq!(written.code, 0, "{}", written.stderr);
    let (text, ran) = (cli.read("canary.yaml"), cli.run("lint"));
    assert_eq!((ran.code, text.matches("tls: false").count()), (0, 1), "{text}\n{}", ran.stdout);
    cli.write("canary.yaml", &text.replace("tls: false", "tls: true"));
    let ran = cli.run("lint");
    let found = ran.stdout.contains("error: the local Envoy has no TLS");
    assert_eq!((ran.code, found), (1, true), "{}", ran.stdout);
}

#[test]
fn what_browsers_speak_is_written_as_it_is_said() {
    let line = "init --dry-run --name shop --host shop.example.com --session-cookie SID --canary v2";
    for (flag, expected) in [("", 0), (" --tls true", 1), (" --tls false", 1)] {
        let ran = CliFixture::new().run(&format!("{line}{flag}"));
        let stated = flag.trim_start_matches(" --tls ");
        assert_eq!(
            (ran.code, ran.stdout.matches(&format!("\n  cookies:\n    tls: {stated}\n")).count()),
            (0, expected),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn flags_that_make_no_valid_release_are_reported_as_faults_of_the_file() {
    let ran = CliFixture::new().run("init --local --name shop --host x --session-cookie SID --canary v2");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("expected an endpoint of version `v1`, found none"), "{}", ran.stderr);
}
