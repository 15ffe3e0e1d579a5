//! `__complete`: by it `kubectl` completes `kubectl canary …`, through a program `kubectl_complete-canary` on the `PATH`.
//!
//! # Source
//! Kubernetes, *Extend kubectl with plugins*, `kubectl_complete-`; cobra, `completions.go`: a candidate a line with a description behind a
//! tab, and a last line with the sum of the directives.

use crate::report::{self, Printer};
use crate::{Error, Outcome};
use clap::{Args, Command};
use clap_complete::CompletionCandidate;
use std::ffi::OsString;
use std::path::Path;

/// Print what the last word of a command line can be, as cobra's programs do
#[derive(Clone, Debug, Args)]
pub(super) struct Complete {
    /// The words behind the name of the tool; the last one is to be completed, and may be empty
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) words: Vec<OsString>,
}

/// No space behind the candidate: a folder, or an option that ends with `=`.
const NO_SPACE: u8 = 2;

/// No names of files where there is no candidate: clap has completed paths where one is wanted.
const NO_FILES: u8 = 4;

pub(super) fn run(arguments: Complete, mut tool: Command, printer: &mut Printer) -> Result<Outcome, Error> {
    let mut words = vec![OsString::from("canary-ctl")];
    words.extend(arguments.words);
    if words.len() == 1 {
        words.push(OsString::new());
    }
    let last = words.len() - 1;
    let candidates = clap_complete::engine::complete(&mut tool, words, last, Some(Path::new(".")))
        .map_err(report::Error::from)?;
    printer.script(&reply(&candidates))?;
    Ok(Outcome::Done)
}

/// The candidates in the form that `kubectl` reads.
fn reply(candidates: &[CompletionCandidate]) -> String {
    let value = |candidate: &CompletionCandidate| candidate.get_value().to_string_lossy().into_owned();
    // The name of a file can have a line break, which would be a candidate of its own.
    let is_shown = |candidate: &&CompletionCandidate| {
        !candidate.is_hide_set() && !value(candidate).contains(char::is_control)
    };
    let shown: Vec<&CompletionCandidate> = candidates.iter().filter(is_shown).collect();
    let open = !shown.is_empty() && shown.iter().all(|candidate| value(candidate).ends_with(['/', '=']));
    let lines = shown.iter().map(|candidate| {
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        let first = help.lines().next().unwrap_or_default();
        if first.is_empty() { value(candidate) + "\n" } else { format!("{}\t{first}\n", value(candidate)) }
    });
    let directive = NO_FILES + if open { NO_SPACE } else { 0 };
    lines.collect::<String>() + &format!(":{directive}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_or_has_two_lines_is_left_out_and_a_description_has_one_line() {
        let candidates = [
            CompletionCandidate::new("status").help(Some("Say what\nmore".into())),
            CompletionCandidate::new("__complete").hide(true),
            CompletionCandidate::new("two\nlines"),
        ];
        assert_eq!(reply(&candidates), "status\tSay what\n:4\n");
    }

    #[test]
    fn behind_a_folder_and_an_equals_sign_there_is_no_space() {
        assert_eq!(reply(&[CompletionCandidate::new("examples/")]), "examples/\n:6\n");
        assert_eq!(
            reply(&[CompletionCandidate::new("examples/"), CompletionCandidate::new("a.yaml")]),
            "examples/\na.yaml\n:4\n"
        );
        assert_eq!(reply(&[]), ":4\n");
    }
}
