//! `--help` is part of the interface: a change of it shows in the diff.

use crate::cli_fixture::{CliFixture, golden, repository};
use canary_release::preflight::PreflightCheck;
use clap::CommandFactory as _;
use std::fmt::Write as _;

/// The text itself is `docs/reference/commands.md` (`reference.rs`).
#[test]
fn every_verb_gives_an_example() {
    let cli = CliFixture::new();
    for command in cli.run("man --list").stdout.lines().skip(1) {
        let ran = cli.run(&format!("{} --help", command.strip_prefix("canary-ctl").unwrap()));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("Example"), "{command}");
    }
}

/// A page at the width of a terminal. The lines that all pages have in common are few, so what grows is seen in the diff of the golden file.
#[test]
fn help_fits_a_terminal_and_the_pages_of_every_day_one_screen() {
    let cli = CliFixture::new();
    let mut pages = String::new();
    for command in cli.run("man --list").stdout.lines() {
        let words = command.strip_prefix("canary-ctl").unwrap().split_whitespace().chain(["--help"]);
        let mut run = cli.command(&words.collect::<Vec<_>>());
        let text = String::from_utf8(run.env("COLUMNS", "80").output().unwrap().stdout).unwrap();
        let lines = text.lines().count();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        let is_of_every_day = ["canary-ctl apply", "canary-ctl weight"].contains(&command);
        let fits = lines <= 50 && widest <= 80;
        assert!(fits || !is_of_every_day, "{command}: {widest} columns, {lines} lines");
        let _ = writeln!(pages, "{lines:3} {command}");
    }
    golden("help-lines.txt", &pages);
}

/// Some runners of CI set it where there is no terminal.
#[test]
fn help_without_a_width_is_that_of_a_terminal() {
    let cli = CliFixture::new();
    let help = |columns: &str| {
        let output = cli.command(&["weight", "--help"]).env("COLUMNS", columns).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for columns in ["0", "00"] {
        assert_eq!(help(columns), help("80"), "{columns}");
    }
}

/// What clap wraps is not what a person copies: an example that breaks without `\` is two commands.
#[test]
fn no_line_below_the_flags_is_wider_than_a_terminal() {
    let mut commands = vec![("canary-ctl".to_owned(), canary_ctl::command::Cli::command())];
    let mut count = 0;
    while let Some((name, command)) = commands.pop() {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
            count += 1;
        }
        commands.extend(
            command.get_subcommands().map(|below| (format!("{name} {}", below.get_name()), below.clone())),
        );
    }
    assert!(count > 300, "{count} lines");
}

/// Verbs of a release, and verbs of the same name of its rollout.
#[test]
fn verbs_of_one_name_name_each_other() {
    for (verb, namesake) in [
        ("pause", "rollout pause"),
        ("resume", "rollout resume"),
        ("promote", "rollout promote"),
        ("status", "rollout status"),
    ] {
        for (one, other) in [(verb, namesake), (namesake, verb)] {
            let help = CliFixture::new().run(&format!("{one} --help")).stdout;
            assert!(help.contains(&format!("`canary-ctl {other}`")), "{one}\n{help}");
        }
    }
}

#[test]
fn the_checks_have_a_page_of_their_own_and_no_other_page_lists_them() {
    let cli = CliFixture::new();
    let page = cli.run("help checks");
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    for check in PreflightCheck::ALL {
        let entry = format!("\n{check}\n  {}.\n  Instead: ", check.meaning());
        assert!(page.stdout.contains(&entry), "expected {entry}, found\n{}", page.stdout);
    }
    let reference = std::fs::read_to_string(repository("docs/reference/commands.md")).unwrap();
    assert!(!reference.contains("hidden-subsets") && reference.contains("canary-ctl help checks"));
    let documented = std::fs::read_to_string(repository("docs/reference/preflight-checks.md")).unwrap();
    for check in PreflightCheck::ALL {
        assert!(documented.contains(&format!("\n| `{check}` | ")), "preflight-checks.md lacks {check}");
    }
}

/// The words of `STYLE.md`, which no page uses either.
#[test]
fn help_names_who_acts_with_the_verb_of_the_field() {
    let reference = std::fs::read_to_string(repository("docs/reference/commands.md")).unwrap();
    let forbidden = ["somebody", "nobody", " anew", "by itself", "is waited for", "none renews", "  Say "];
    let found: Vec<&str> =
        reference.lines().filter(|line| forbidden.iter().any(|word| line.contains(word))).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_exit_codes_have_a_page() {
    let page = CliFixture::new().run("help exit-codes");
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    for text in ["\n1    ", "\n2    ", "\n130  ", "rollback"] {
        assert!(page.stdout.contains(text), "expected {text:?} in\n{}", page.stdout);
    }
}

#[test]
fn the_flags_of_a_verb_are_not_among_those_that_it_shares() {
    for (verb, flags) in [
        ("status", &["--window", "--watch"][..]),
        ("rotate-keys", &["--retire", "--timeout"]),
        ("prepare", &["--undo"]),
        ("explain", &["--host", "--cookie", "--weight"]),
        ("verify", &["--live"]),
        ("token create", &["--version", "--ttl"]),
        ("dashboard", &["--all"]),
        ("rollout run", &["--interval"]),
    ] {
        let help = CliFixture::new().run(&format!("{verb} --help")).stdout;
        let (own, shared) = help.split_once("Shared options:").unwrap();
        let shared = shared.split("\n\n").next().unwrap();
        for flag in flags {
            let entry = format!("{flag} ");
            let is_own = own.contains(&entry) || own.contains(&format!("{flag}\n"));
            assert!(is_own && !shared.contains(&entry), "{verb} {flag}\n{help}");
        }
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

/// The verbs that `--help` lists.
fn verbs_of_the_help() -> Vec<String> {
    let help = CliFixture::new().run("--help").stdout;
    let commands = help.split("Usage: ").nth(1).unwrap().split("\nOptions:\n").next().unwrap();
    let starts = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    starts.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_has_a_manual_page_that_names_it() {
    let list = CliFixture::new().run("man --list");
    assert_eq!((list.code, list.stderr.as_str()), (0, ""));
    let pages: Vec<&str> = list.stdout.lines().collect();
    for verb in verbs_of_the_help() {
        assert!(pages.contains(&format!("canary-ctl {verb}").as_str()), "{pages:?} lacks {verb}");
    }
    assert!(pages.contains(&"canary-ctl rollout start") && pages.len() > 50, "{pages:?}");
    for command in pages {
        let verb = command.strip_prefix("canary-ctl").unwrap();
        let name = command.replace(' ', "-");
        let page = CliFixture::new().run(&format!("man {verb}"));
        assert_eq!((page.code, page.stderr.as_str()), (0, ""), "{verb}");
        let names_it =
            page.stdout.contains(&format!(".TH {name} 1 ")) && page.stdout.contains(".SH SYNOPSIS");
        assert!(names_it, "expected the page {name}, found\n{}", page.stdout);
    }
    let unknown = CliFixture::new().run("man rollout strat");
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("found `rollout strat`"), "{}", unknown.stderr);
}

#[test]
fn as_a_plugin_of_kubectl_the_usage_names_kubectl() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("kubectl-canary");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_canary-ctl"), &plugin).unwrap();
    for (words, expected) in [
        (&["--help"][..], "Usage: kubectl canary <COMMAND>"),
        (&["rollout", "start", "--help"], "Usage: kubectl canary rollout start "),
    ] {
        let output = std::process::Command::new(&plugin).args(words).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "expected {expected}, found\n{text}");
    }
}

#[test]
fn kubectl_is_told_what_the_last_word_can_be() {
    let complete = |words: &[&str]| {
        let ran = CliFixture::new().run_words(&[&["__complete"], words].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
        ran.stdout
    };
    let verbs = complete(&["rol"]);
    assert!(verbs.starts_with("rollout\tRoll out the canary automatically"), "{verbs}");
    assert!(verbs.contains("\nrollback\tRoll back the canary"), "{verbs}");
    assert!(verbs.ends_with("\n:4\n"), "{verbs}");
    assert!(complete(&["rollout", "st"]).starts_with("start\t"));
    assert!(complete(&["status", "--out"]).contains("--output"));
    assert!(complete(&["status", "-o", "js"]).starts_with("json"));
    assert!(complete(&[""]).contains("\nweight\t"));
    assert!(!complete(&[""]).contains("__complete"));
}

#[test]
fn a_train_needs_no_file_and_is_named_instead_of_a_release() {
    let cli = CliFixture::new();
    for verb in ["promote", "promote --finish", "rollback"] {
        for other in ["-r shop/web", "-f web.yaml"] {
            let ran = cli.run(&format!("{verb} --train autumn {other}"));
            assert_eq!(ran.code, 2, "{verb} {other}");
            assert!(ran.stderr.contains("cannot be used with"), "{verb} {other}: {}", ran.stderr);
        }
        let ran = cli.run(&format!("{verb} --train autumn --kubeconfig none.yaml"));
        assert_eq!(ran.code, 2, "{verb}");
        assert!(ran.stderr.contains("cannot use the kubeconfig `none.yaml`"), "{verb}: {}", ran.stderr);
    }
}
