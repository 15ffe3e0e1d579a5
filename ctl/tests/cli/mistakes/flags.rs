//! A flag that many verbs have is obeyed by a verb, or refused: none ignores it. The verbs are those of clap's own tree.

use super::api_server::Server;
use super::{Folder, typed};
use clap::{Command, CommandFactory as _};

/// The commands that do something by themselves, each as it is typed.
fn verbs(command: &Command, above: &str) -> Vec<String> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let names = below.flat_map(|below| verbs(below, &format!("{above} {}", below.get_name())));
    let is_verb = !command.is_subcommand_required_set() && !above.is_empty();
    let own = is_verb.then(|| above.trim().to_owned());
    own.into_iter().chain(names).collect()
}

/// What a verb cannot do without.
fn needed(verb: &str) -> &'static str {
    match verb {
        "weight" => "20",
        "init" => "--name shop --host a.example.com --session-cookie S --canary v2 --force --dry-run",
        "generate" | "twin plugin" => "--dry-run",
        "generate controller" => "--image x",
        "generate rbac" => "--user bob",
        "twin adopt" => "shop",
        "twin render" | "twin check" => "--deployed canary.yaml --rendered canary.yaml",
        "twin post-render" => "--deployed canary.yaml",
        "token create" => "--version v2",
        "token inspect" => "abc",
        "verify" => "http://127.0.0.1:9/",
        "completions" => "bash",
        "module save" => "--dry-run module.wasm",
        "module verify" => "none.wasm",
        _ => "",
    }
}

/// Whether a command has a flag.
fn has_flag(verb: &str, flag: &str) -> bool {
    let mut command = &canary_ctl::command::Cli::command();
    for word in verb.split(' ') {
        command = command.find_subcommand(word).unwrap();
    }
    command.get_arguments().any(|argument| argument.get_long() == Some(flag))
}

/// The verbs that write nothing to a cluster, each with the reason that it gives.
const WITHOUT_SERVER: [(&str, &str); 9] = [
    ("controller", "the command computes it without the API server"),
    ("generate", "the command computes it without the API server"),
    ("init", "the command computes it without the API server"),
    ("module save", "the command computes it without the API server"),
    ("rollout run", "the command computes it without the API server"),
    ("rollout test-alerts", "the command computes it without the API server"),
    ("rollout test-hooks", "the command computes it without the API server"),
    ("rollout test-metrics", "the command computes it without the API server"),
    ("twin plugin", "the command computes it without the API server"),
];

/// Those of a local Envoy alone.
const LOCAL: [&str; 1] = ["token revoke"];

#[test]
fn every_verb_that_writes_to_a_cluster_lets_the_api_server_validate_it() {
    let cli = typed(5, "").within(Folder::Release).with(Server::Empty).fixture();
    let all = verbs(&canary_ctl::command::Cli::command(), "");
    for verb in all.iter().filter(|verb| has_flag(verb, "dry-run")) {
        let needed = needed(verb).replace("--dry-run", "");
        let ran = cli.run(&format!("{verb} {needed} --dry-run=server"));
        let refusal = WITHOUT_SERVER.iter().find(|(without, _)| without == verb);
        let reason = refusal.map(|(_, reason)| *reason);
        let reason = reason.or(LOCAL.contains(&verb.as_str()).then_some("without the API server"));
        if let Some(reason) = reason {
            assert!(ran.stderr.contains(reason) && ran.code == 2, "{verb}: {ran:?}");
        } else {
            let is_refused = ["found `server`", "invalid value", "without the API server"]
                .iter()
                .any(|text| ran.stderr.contains(text));
            assert!(!is_refused, "{verb}: {ran:?}");
        }
    }
    for verb in
        ["apply", "weight", "promote", "rollback", "uninstall", "pause", "resume", "recover", "prepare"]
    {
        assert!(has_flag(verb, "dry-run"), "{verb} writes to a cluster");
    }
}

#[test]
fn the_help_of_every_verb_that_writes_to_a_cluster_has_its_exit_codes() {
    let cli = typed(5, "").fixture();
    let all = verbs(&canary_ctl::command::Cli::command(), "");
    let is_local =
        |verb: &str| LOCAL.contains(&verb) || WITHOUT_SERVER.iter().any(|(local, _)| *local == verb);
    let writers: Vec<&String> =
        all.iter().filter(|verb| has_flag(verb, "dry-run") && !is_local(verb)).collect();
    assert!(writers.len() >= 18, "{writers:?}");
    for verb in writers {
        let help = cli.run(&format!("{verb} --help")).stdout;
        assert!(help.contains("Exit codes: 0 done") && help.contains("2 failed"), "{verb}\n{help}");
    }
}

/// A flag, what shows that it was obeyed, and the verbs that do what it says and fail for nothing.
const FLAGS: [(&str, &str, &str, &[&str]); 5] = [
    ("-n", "other", "-n other", &["list", "init"]),
    ("--context", "nope", "`nope`", &[]),
    ("--kubeconfig", "nope.yaml", "nope.yaml", &[]),
    ("-r", "other/shop", "other/shop", &[]),
    ("-f", "nope.yaml", "nope.yaml", &["init"]),
];

#[test]
fn every_verb_obeys_or_refuses_each_flag_before_it_and_behind_it() {
    let verbs = verbs(&canary_ctl::command::Cli::command(), "");
    assert!(verbs.len() > 45, "{verbs:?}");
    let cli = typed(5, "").within(Folder::Release).with(Server::Empty).fixture();
    let faults = |verb: &String| {
        let mut faults = Vec::new();
        // A controller that obeys runs until it is ended.
        for (flag, value, obeyed, done) in
            FLAGS.iter().filter(|(flag, ..)| verb != "controller" || *flag != "-n")
        {
            let behind = cli.run(&format!("{verb} {} {flag} {value}", needed(verb)));
            let is_refused = behind.stderr.contains(&format!("unexpected argument '{flag}'"));
            let is_named = behind.stderr.contains(*obeyed) || behind.stderr.contains(&format!("`{flag}`"));
            // `-n` of `twin adopt` needs `--label`, and flags of the cluster of `init` need `--from-cluster`.
            let needs_another = (verb.starts_with("twin") || verb == "init")
                && behind.stderr.contains("required arguments were not provided");
            // They fail before they ask a cluster: the file names no receiver.
            let asks_no_cluster = verb.starts_with("rollout test-") && behind.stderr.contains("found none");
            let says_why = is_refused || is_named || needs_another || asks_no_cluster;
            let is_failed = behind.code == 2 && says_why;
            if !is_failed && !done.contains(&verb.as_str()) {
                faults.push(format!("{verb} {flag} {value}: {behind:?}"));
            }
            let before = cli.run(&format!("{flag} {value} {verb} {}", needed(verb)));
            // Of a command line that clap refuses the usage depends on the order.
            if (before.code, before.stderr.lines().next()) != (behind.code, behind.stderr.lines().next()) {
                faults.push(format!("{flag} {value} {verb}: {before:?}, and behind it {behind:?}"));
            }
        }
        faults
    };
    let mut found = Vec::new();
    for chunk in verbs.chunks(8) {
        std::thread::scope(|scope| {
            let running: Vec<_> = chunk.iter().map(|verb| scope.spawn(|| faults(verb))).collect();
            found.extend(running.into_iter().flat_map(|running| running.join().unwrap()));
        });
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
