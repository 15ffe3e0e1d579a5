//! The commands and files of the pages are ones that the tool takes: each `canary-ctl` line in a block for a shell and each such span of a
//! sentence is read as a command line, and each release as a file. Nothing is run.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use clap::error::ErrorKind;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The languages of blocks that hold command lines.
const SHELLS: [&str; 2] = ["sh", "console"];
/// What ends a command in a line of a shell.
const OPERATORS: [&str; 6] = ["|", "||", "&&", ">", ">>", "<"];

/// What clap says of a command line that lacks something.
const INCOMPLETE: [ErrorKind; 3] = [
    ErrorKind::MissingRequiredArgument,
    ErrorKind::MissingSubcommand,
    ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages for users with their texts, as git lists them. The change log tells of commands that are gone.
fn pages() -> Vec<(String, String)> {
    let output = Command::new("git").args(["ls-files", "--", "*.md"]).current_dir(root()).output().unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    let names = names.lines().filter(|page| *page != "CHANGELOG.md");
    names.map(|page| (page.to_owned(), std::fs::read_to_string(root().join(page)).unwrap())).collect()
}

/// The blocks of code of a page: language and text.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'))
}

/// The spans of code in the sentences of a page.
fn spans(page: &str) -> Vec<String> {
    let prose = page.split("```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).map(|span| span.replace('\n', " ")).collect()
}

/// The lines of a block for a shell, of `console` blocks what is typed.
fn lines(language: &str, block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    if language == "console" {
        return lines.filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect();
    }
    lines.map(str::to_owned).collect()
}

/// The command lines of the tool in a line of a shell. `None` if the line is no such line.
fn command_lines(line: &str) -> Option<Vec<Vec<String>>> {
    let words = shlex::split(line)?;
    let commands = words.split(|word| OPERATORS.contains(&word.as_str()));
    let is_of_tool = |command: &&[String]| command.first().is_some_and(|word| word == "canary-ctl");
    Some(commands.filter(is_of_tool).map(<[String]>::to_vec).collect())
}

/// Whether a command line stands for others: `canary-ctl VERB --help`, `canary-ctl weight …`.
fn has_placeholder(words: &[String]) -> bool {
    let is_name = |word: &String| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    words.iter().any(|word| is_name(word) || word.contains('…') || word.contains('<'))
}

/// What the parser says against a command line.
fn fault(words: &[String]) -> Option<String> {
    let error = canary_ctl::command::parse(words.iter().map(OsString::from)).err()?;
    let is_fault = !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    is_fault.then(|| error.to_string().lines().next().unwrap_or_default().to_owned())
}

#[test]
fn every_command_line_of_the_pages_is_one_that_the_tool_takes() {
    let (mut faults, mut count) = (Vec::new(), 0);
    for (page, text) in pages() {
        for (language, block) in blocks(&text).filter(|(language, _)| SHELLS.contains(language)) {
            for words in lines(language, block).iter().filter_map(|line| command_lines(line)).flatten() {
                count += 1;
                // A console block may show a call whose arguments are of no interest.
                let is_sketch = language == "console" && has_placeholder(&words);
                faults.extend(
                    fault(&words).filter(|_| !is_sketch).map(|fault| (page.clone(), words.join(" "), fault)),
                );
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(count > 30, "the pages have commands in blocks for a shell, found {count}");
}

#[test]
fn every_command_that_a_sentence_names_is_one_that_the_tool_has() {
    let (mut faults, mut count) = (Vec::new(), 0);
    for (page, text) in pages() {
        // In a table a bar is escaped.
        let spans = spans(&text).into_iter().map(|span| span.replace("\\|", "|"));
        for words in
            spans.filter_map(|span| command_lines(&span)).flatten().filter(|words| !has_placeholder(words))
        {
            count += 1;
            let error = canary_ctl::command::parse(words.iter().map(OsString::from)).err();
            // A sentence may name a command without what it needs.
            let is_short = error.is_some_and(|error| INCOMPLETE.contains(&error.kind()));
            faults.extend(
                fault(&words).filter(|_| !is_short).map(|fault| (page.clone(), words.join(" "), fault)),
            );
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(count > 100, "the pages name commands, found {count}");
}

#[test]
fn every_release_of_the_pages_is_one_that_the_tool_reads() {
    let (mut faults, mut count) = (Vec::new(), 0);
    for (page, text) in pages() {
        for (_, block) in blocks(&text).filter(|(language, _)| *language == "yaml") {
            if !block.lines().any(|line| line == "kind: Release") {
                continue;
            }
            count += 1;
            let read = canary_release::file::parse(Path::new(&page), block);
            faults.extend(read.err().map(|error| (page.clone(), format!("{error:?}"))));
        }
    }
    println!("{count} releases");
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Errors that have the identifier of the error within them.
const TRANSPARENT: [&str; 7] = ["cluster", "denied", "emergency", "in-train", "local", "plan", "preflight"];

#[test]
fn each_identifier_of_an_error_is_on_its_page_and_no_other() {
    use canary_release::plan;
    use strum::VariantNames as _;
    let all = [
        canary_ctl::Error::VARIANTS,
        canary_operations::Error::VARIANTS,
        plan::Error::VARIANTS,
        canary_ctl::local::Error::VARIANTS,
    ]
    .concat();
    let all: BTreeSet<&str> = all.into_iter().filter(|id| !TRANSPARENT.contains(id)).collect();
    let page = std::fs::read_to_string(root().join("docs/reference/errors.md")).unwrap();
    let (_, list) = page.split_once("Every other error has one of these:").unwrap();
    let listed: BTreeSet<&str> = blocks(list).flat_map(|(_, ids)| ids.split_whitespace()).collect();
    assert_eq!(listed, all);
}
