//! What people type who know other tools: flags before the verb, `help VERB`, and verbs of `kubectl`, `helm`, `argo` and `flagger` under the
//! names that they have there.

use crate::hint::ShellCommand;
use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Flags with a value that may come before the verb.
const BEFORE_THE_VERB: [&str; 15] = [
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "--request-timeout",
    "--as",
    "--as-group",
    "--prometheus",
    "--prometheus-token-file",
    "-r",
    "--release",
    "-f",
    "--file",
    "-o",
    "--output",
];

/// Flags without one.
const SWITCHES: [&str; 4] = ["-v", "--verbose", "-A", "--all-namespaces"];

/// The words in the order in which clap reads them: a verb that has no such flag refuses it then, as it does behind it.
pub(super) fn rearranged(tool: &Command, mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        let is_about_checks = words.get(1).is_some_and(|word| word == "checks");
        if is_about_checks {
            return vec![words.remove(0), "__checks".into()];
        }
        if words.get(1).is_some_and(|word| word == "exit-codes") {
            return vec![words.remove(0), "__exit-codes".into()];
        }
        words.push("--help".into());
        return words;
    }
    let mut rest = words.into_iter().peekable();
    let mut verb: Vec<OsString> = rest.next().into_iter().collect();
    let (mut flags, mut command) = (Vec::new(), tool);
    while command.has_subcommands()
        && let Some(word) = rest.peek().and_then(|word| word.to_str())
    {
        if let Some(below) = command.find_subcommand(word) {
            command = below;
            verb.extend(rest.next());
        } else if let Some(has_value) = flag_before_the_verb(word) {
            flags.extend(rest.by_ref().take(if has_value { 1 } else { 2 }));
        } else {
            break;
        }
    }
    verb.into_iter().chain(flags).chain(rest).collect()
}

/// Whether such a flag has no further word: `--context=prod`, `-nshop`, `-v`. `None` for another word.
fn flag_before_the_verb(word: &str) -> Option<bool> {
    if BEFORE_THE_VERB.contains(&word) {
        return Some(false);
    }
    if SWITCHES.contains(&word) {
        return Some(true);
    }
    let is_joined = |flag: &str| match word.strip_prefix(flag) {
        Some(value) if flag.starts_with("--") => value.starts_with('='),
        found => found.is_some() && !word.starts_with("--"),
    };
    BEFORE_THE_VERB.iter().any(|flag| is_joined(flag)).then_some(true)
}

/// The verbs of other tools, with their names here.
const SYNONYMS: [(&str, &str); 55] = [
    (
        "abort",
        "`canary-ctl rollout abort` ends a rollout, and `canary-ctl rollback` takes the canary away from its users",
    ),
    ("analyze", "`canary-ctl lint` checks the file, and `canary-ctl doctor` the cluster"),
    ("approve", "`canary-ctl rollout approve` lets a step go on"),
    (
        "cancel",
        "`canary-ctl rollback` takes the canary away from its users, `canary-ctl rollout abort` ends a rollout",
    ),
    ("check", "`canary-ctl doctor` checks a release and its cluster, `canary-ctl lint` the file alone"),
    ("config", "`canary-ctl generate` prints the objects, and `kubectl config` has the contexts"),
    ("create", "`canary-ctl init` writes a canary.yaml, and `canary-ctl apply` brings it to the cluster"),
    ("delete", "`canary-ctl uninstall` deletes what `apply` has written"),
    ("deploy", "`canary-ctl apply` brings a release to the cluster"),
    ("describe", "`canary-ctl status` shows a release with its problems"),
    ("edit", "edit canary.yaml, and `canary-ctl apply`"),
    ("events", "`canary-ctl status` shows a release with its problems"),
    ("finish", "`canary-ctl promote --finish` removes the version that was"),
    ("freeze", "`canary-ctl pause` keeps other users from changing a release"),
    ("get", "`canary-ctl list` prints the releases, `canary-ctl status` one of them"),
    ("history", "`canary-ctl status -o yaml` shows a release with its changes"),
    ("info", "`canary-ctl status` shows a release with its problems"),
    ("install", "`canary-ctl apply` brings a release to the cluster"),
    ("lock", "`canary-ctl pause` keeps other users from changing a release"),
    ("login", "the kubeconfig has the credentials: log in as for `kubectl`"),
    (
        "logs",
        "`canary-ctl status` shows what proxies report, `canary-ctl rollout status` what a rollout has seen",
    ),
    ("metrics", "`canary-ctl status` shows what proxies report"),
    ("monitor", "`canary-ctl status --watch` and `canary-ctl dashboard` observe a release"),
    ("open", "`canary-ctl dashboard` shows releases as a page"),
    ("plan", "`canary-ctl diff` shows what `apply` would change"),
    ("proxy", "`canary-ctl dashboard` serves a page on this machine"),
    ("remove", "`canary-ctl uninstall` deletes what `apply` has written"),
    ("retry", "`canary-ctl rollout retry` begins a step again"),
    ("revert", "`canary-ctl rollback` takes the canary, or the last promotion, back"),
    (
        "rollout history",
        "`canary-ctl rollout status` shows a rollout, `canary-ctl status -o yaml` the changes of a release",
    ),
    (
        "rollout restart",
        "`canary-ctl rollout retry` begins a step again; `kubectl rollout restart` replaces pods",
    ),
    ("rollout rollback", "`canary-ctl rollback` takes the canary, or the last promotion, back"),
    (
        "rollout stop",
        "`canary-ctl rollout abort` ends a rollout and rolls the canary back, `canary-ctl rollout pause` keeps its step",
    ),
    ("rollout undo", "`canary-ctl rollback` takes the canary, or the last promotion, back"),
    ("scale", "`canary-ctl weight` changes the share of users; `kubectl scale` the number of pods"),
    ("set", "`canary-ctl weight PERCENT` changes the share of users"),
    ("set-weight", "`canary-ctl weight PERCENT` changes the share of users"),
    ("shift", "`canary-ctl weight PERCENT` changes the share of users"),
    ("show", "`canary-ctl status` shows a release with its problems"),
    (
        "start",
        "`canary-ctl rollout start` starts a rollout, `canary-ctl weight PERCENT` sets a share by hand",
    ),
    (
        "stop",
        "`canary-ctl rollback` takes the canary away from its users, `canary-ctl rollout abort` ends a rollout",
    ),
    ("template", "`canary-ctl generate` prints the objects of a release"),
    ("test", "`canary-ctl verify URL` checks a running release, `canary-ctl lint` the file"),
    ("token delete", "`canary-ctl token revoke` ends all tokens of a release of a local Envoy"),
    ("token list", "tokens are kept nowhere; `canary-ctl token inspect TOKEN` shows one"),
    ("top", "`canary-ctl status --watch` and `canary-ctl dashboard` observe a release"),
    (
        "traffic",
        "`canary-ctl weight PERCENT` changes the share of users, `canary-ctl status` shows what proxies report",
    ),
    ("ui", "`canary-ctl dashboard` shows releases as a page"),
    ("undo", "`canary-ctl rollback` takes the canary, or the last promotion, back"),
    ("unfreeze", "`canary-ctl resume` ends a pause"),
    ("unlock", "`canary-ctl resume` ends a pause"),
    ("update", "`canary-ctl apply` brings the cluster to what the file says"),
    ("upgrade", "`canary-ctl apply` brings the cluster to what the file says"),
    (
        "validate",
        "`canary-ctl lint` checks the file, `canary-ctl apply --dry-run=server` asks the API server",
    ),
    ("watch", "`canary-ctl status --watch` observes a release"),
];

/// Adds to a refusal what to type instead. Clap's own advice to pass a flag as a value names a release `--yes`.
pub(super) fn with_tip(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    if let Some(tip) = tip(&error, words) {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

fn tip(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let verb = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let found = text(ContextKind::InvalidSubcommand)?;
            let has_verbs = ["rollout", "token"].contains(&verb);
            let typed = if has_verbs { format!("{verb} {found}") } else { found.to_owned() };
            SYNONYMS.iter().find(|(other, _)| *other == typed).map(|(_, tip)| (*tip).to_owned())
        }
        ErrorKind::UnknownArgument => {
            let found = text(ContextKind::InvalidArg)?;
            if super::named_release::is_file_name(found) {
                return Some(format!("`-f {found}` names the file of a release"));
            }
            instead_of_argument(words, found)
        }
        ErrorKind::ValueValidation if verb == "weight" => {
            let found = text(ContextKind::InvalidValue).filter(|found| found.starts_with(char::is_alphabetic));
            found.map(|_| "the percentage comes first: `canary-ctl weight 20 [NAMESPACE/]NAME`".to_owned())
        }
        ErrorKind::MissingRequiredArgument if verb == "init" => Some(
            "`--from-cluster` asks only for what the cluster does not say; `--jwt-claim CLAIM` takes the place of `--session-cookie NAME`"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The command to type instead of an argument that a verb does not take.
fn instead_of_argument(words: &[OsString], found: &str) -> Option<String> {
    let verb = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let flag = found.split('=').next().unwrap_or_default();
    Some(match (verb, flag) {
        (_, "--yes" | "-y" | "--assume-yes") => {
            format!("leave it out: {} asks nothing", ShellCommand::new("canary-ctl").name(verb, "VERB"))
        }
        ("rollback", "--force") => "leave it out: `canary-ctl rollback` asks nothing".to_owned(),
        ("rollback", "--to-revision") => {
            "`canary-ctl rollback` takes the canary, or the last promotion, back; it has no revisions"
                .to_owned()
        }
        ("weight", "--set") => "leave out the flag: `canary-ctl weight 20 [NAMESPACE/]NAME`".to_owned(),
        (_, "-A" | "--all-namespaces") => {
            "`canary-ctl list` prints the releases of all namespaces".to_owned()
        }
        (_, flag) if flag.starts_with('-') => return None,
        ("list", _) => {
            let status = ShellCommand::new("canary-ctl status").name(found, "NAME");
            format!("{status} shows one release; `-n NAMESPACE` limits the list")
        }
        ("apply" | "diff" | "doctor" | "prepare" | "rotate-keys", _) => {
            let command = ShellCommand::new("canary-ctl").name(verb, "VERB").words("-f FILE");
            format!("{command} reads the release from its file")
        }
        ("token", _) => {
            let command = ShellCommand::new("canary-ctl token create --version").name(found, "VERSION");
            format!("{command} signs a token")
        }
        ("explain", _) => "`--host HOST --path PATH` name the request, or `--curl COMMAND`".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn flags_before_the_verb_are_read_behind_it() {
        for (typed, read) in [
            ("x -n shop status", "x status -n shop"),
            (
                "x --context=prod rollout -nshop status --watch",
                "x rollout status --context=prod -nshop --watch",
            ),
            ("x -v -A list", "x list -v -A"),
            ("x -n shop", "x -n shop"),
            ("x weight -5 -n shop", "x weight -5 -n shop"),
            ("x --nonsense shop status", "x --nonsense shop status"),
            ("x help rollout run", "x rollout run --help"),
            ("x help", "x --help"),
            ("x help checks", "x __checks"),
        ] {
            let words = typed.split(' ').map(OsString::from).collect();
            let found = rearranged(&crate::command::Cli::command(), words);
            let expected: Vec<OsString> = read.split(' ').map(OsString::from).collect();
            assert_eq!(found, expected, "{typed}");
        }
    }

    fn long_names(command: &Command) -> Vec<String> {
        let shared =
            command.get_arguments().filter(|argument| argument.get_help_heading() == Some("Shared options"));
        let own = shared.filter_map(|argument| argument.get_long().map(|name| format!("--{name}")));
        own.chain(command.get_subcommands().flat_map(long_names)).collect()
    }

    #[test]
    fn each_flag_that_verbs_share_may_come_before_them() {
        for flag in long_names(&crate::command::Cli::command()) {
            let is_known = BEFORE_THE_VERB.contains(&flag.as_str()) || SWITCHES.contains(&flag.as_str());
            assert!(is_known, "{flag}");
        }
    }

    #[test]
    fn no_synonym_is_a_verb_of_its_own() {
        let tool = crate::command::Cli::command();
        let is_verb = |(word, _): &&(&str, &str)| tool.find_subcommand(word).is_some();
        assert_eq!(SYNONYMS.iter().find(is_verb), None);
    }
}
