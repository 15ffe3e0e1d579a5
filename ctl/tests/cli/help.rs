//! `--help` is part of the interface: a change of it shows in the diff.

use crate::cli_fixture::{CliFixture, golden};

const VERBS: [&str; 44] = [
    "init",
    "lint",
    "generate",
    "generate routes",
    "generate rbac",
    "diff",
    "doctor",
    "prepare",
    "apply",
    "weight",
    "rollout",
    "rollout start",
    "rollout run",
    "rollout status",
    "rollout approve",
    "rollout pause",
    "rollout resume",
    "rollout retry",
    "rollout abort",
    "rollout promote",
    "rollout test-alerts",
    "pause",
    "resume",
    "list",
    "status",
    "dashboard",
    "promote",
    "rollback",
    "rotate-keys",
    "uninstall",
    "twin",
    "twin render",
    "twin post-render",
    "twin diff",
    "twin check",
    "twin plugin",
    "twin adopt",
    "twin wait",
    "module",
    "module save",
    "module push",
    "module verify",
    "schema",
    "completions",
];

#[test]
fn every_verb_says_what_it_does_and_gives_an_example() {
    for verb in VERBS {
        let ran = CliFixture::new().run(&format!("{verb} --help"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("Example"), "{verb}");
        golden(&format!("help-{}.txt", verb.replace(' ', "-")), &ran.stdout);
    }
}

#[test]
fn a_misspelt_verb_is_answered_with_the_nearest() {
    let ran = CliFixture::new().run("wieght 20");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("a similar subcommand exists: 'weight'"), "{}", ran.stderr);
}

#[test]
fn completions_name_every_verb() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = CliFixture::new().run(&format!("completions {shell}"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        for subcommand in ["generate", "status"] {
            assert!(ran.stdout.contains(subcommand), "the completions for {shell} lack `{subcommand}`");
        }
    }
}
