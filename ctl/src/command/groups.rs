//! The verbs of the root help in groups, which clap has for flags alone.

use clap::Command;
use std::fmt::Write as _;

/// The widest line of the list.
const WIDTH: usize = 80;
/// The column in which the meanings begin.
const INDENT: usize = 15;

/// The groups, in the order in which a release needs them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Write and check a release", &["init", "lint", "diff", "doctor", "prepare", "apply"]),
    ("Move users", &["weight", "rollout", "promote", "rollback", "pause", "resume"]),
    ("Observe", &["status", "list", "dashboard", "explain", "verify", "simulate"]),
    ("Testers and keys", &["token", "rotate-keys"]),
    ("GitOps, charts, upkeep", &["generate", "controller", "twin", "module", "recover", "uninstall"]),
    ("The tool", &["schema", "man", "version", "completions"]),
];

/// The template of the root help, with the verbs of the tool.
pub(super) fn template(tool: &Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, verbs) in GROUPS {
        let _ = write!(text, "\n{heading}:\n");
        for verb in verbs {
            let about = tool.find_subcommand(verb).and_then(Command::get_about);
            text.push_str(&entry(verb, &about.map(ToString::to_string).unwrap_or_default()));
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

/// A verb with its meaning, wrapped.
fn entry(verb: &str, meaning: &str) -> String {
    let mut text = format!("  {verb:<0$}", INDENT - 2);
    let mut column = INDENT;
    for (index, word) in meaning.split_whitespace().enumerate() {
        let length = word.chars().count() + 1;
        if column + length > WIDTH {
            text = format!("{}\n{:INDENT$}", text.trim_end(), "");
            column = INDENT;
        } else if index > 0 {
            text.push(' ');
        }
        text.push_str(word);
        column += length;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn each_verb_is_in_one_group() {
        let tool = crate::command::Cli::command();
        let shown = tool.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, all);
    }
}
