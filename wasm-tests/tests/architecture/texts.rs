//! Texts of the libraries name no command; commands with names of a cluster are built by their type.

use crate::{code, root, sources};
use proc_macro2::{Group, TokenStream, TokenTree};

/// The string literals of a source, those of attributes included; comments and doc comments are none.
fn string_literals(tokens: TokenStream) -> Vec<String> {
    let is_doc =
        |group: &Group| group.stream().into_iter().next().is_some_and(|first| first.to_string() == "doc");
    let literals = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) if is_doc(&group) => Vec::new(),
        TokenTree::Group(group) => string_literals(group.stream()),
        TokenTree::Literal(literal) => vec![literal.to_string()],
        TokenTree::Ident(_) | TokenTree::Punct(_) => Vec::new(),
    });
    literals.filter(|literal| literal.contains('"') && !literal.starts_with('\'')).collect()
}

#[test]
fn string_literals_are_found_and_comments_and_characters_are_none() {
    let source = r##"
        // it's "no" literal
        /// Nor `"this"`.
        const A: &'static str = "a \"quoted\" one"; // "no"
        const B: (char, char, &str) = ('"', '\'', "two");
        #[error("an attribute")]
        const C: &str = r#"raw "text" once"#;
    "##;
    assert_eq!(
        string_literals(source.parse().unwrap()),
        [r#""a \"quoted\" one""#, r#""two""#, r#""an attribute""#, r##"r#"raw "text" once"#"##]
    );
}

/// A controller has neither: errors are data there, and `ctl/src/hint/` says the words.
#[test]
fn no_text_of_the_libraries_names_a_command_or_a_flag_of_the_terminal_tool() {
    let is_flag = |after: &str| after.starts_with(|letter: char| letter.is_ascii_alphabetic());
    for folder in ["ctl/release/src", "ctl/operations/src", "ctl/twins/src"] {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        files.retain(|path| !path.to_string_lossy().ends_with("_tests.rs"));
        let mut count = 0;
        for path in files {
            for literal in string_literals(code(&path).parse().unwrap()) {
                let names_one = literal.contains("`canary-ctl ") || literal.split("--").skip(1).any(is_flag);
                assert!(!names_one, "{} names a command or a flag: {literal}", path.display());
                count += 1;
            }
        }
        assert!(count > 100, "{folder} has texts: {count}");
    }
}

/// What stands between backticks in a string literal, continued lines as one.
fn code_spans(literal: &str) -> Vec<String> {
    let lines = literal.split("\\\n").map(str::trim_start).collect::<String>();
    lines.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Names come from the cluster, and a shell obeys what is copied into it: `ShellCommand` (`ctl/src/hint/command.rs`) quotes a name, or leaves it out.
#[test]
fn a_command_with_a_name_in_it_is_built_by_its_type_and_not_by_a_format_string() {
    let programs = ["kubectl ", "helm ", "canary-ctl ", "docker ", "envoy ", "chmod ", "curl "];
    let mut files = Vec::new();
    for folder in ["ctl/src", "ctl/release/src", "ctl/operations/src", "ctl/twins/src"] {
        sources(&root().join(folder), &mut files);
    }
    files.retain(|path| !path.to_string_lossy().ends_with("_tests.rs"));
    let mut count = 0;
    for path in files {
        for literal in string_literals(code(&path).parse().unwrap()) {
            let spans = code_spans(&literal);
            let commands = spans.iter().filter(|span| programs.iter().any(|name| span.starts_with(name)));
            for command in commands {
                assert!(
                    !command.contains('{'),
                    "{}: expected `ShellCommand`, found `{command}`",
                    path.display()
                );
                count += 1;
            }
        }
    }
    assert!(count > 50, "the sources have commands: {count}");
}

/// `20%`, as flags are typed; the prose of pages has `20 %` (`wording.rs`).
#[test]
fn percent_has_one_spelling_in_what_is_printed() {
    let mut files = Vec::new();
    for folder in [
        "assignment/contract/src",
        "assignment/src",
        "ctl/src",
        "ctl/controller/src",
        "ctl/dashboard/src",
        "ctl/operations/src",
        "ctl/release/src",
        "examples/demo/src",
    ] {
        sources(&root().join(folder), &mut files);
    }
    let mut count = 0;
    for path in files {
        // Tests read and escape either spelling.
        for literal in string_literals(code(&path).parse().unwrap()) {
            let is_apart = |before: &str| before.ends_with(|end: char| end.is_ascii_digit() || end == '}');
            let apart = literal.match_indices(" %").any(|(at, _)| literal.get(..at).is_some_and(is_apart));
            assert!(!apart, "{}: expected `20%`, found {literal}", path.display());
            count += literal.matches('%').count();
        }
    }
    assert!(count > 50, "the sources print shares: {count}");
}
