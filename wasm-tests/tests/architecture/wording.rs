//! The wording of the pages that users read first, and of doc comments (`STYLE.md`).

use crate::{root, sources};
use std::path::Path;

/// The words of a sentence, at most.
const MAX_WORDS: usize = 25;

/// Words and phrases of these pages for which there is a plainer one.
const UNUSED: [(&str, &str); 8] = [
    ("somebody", "a user, an operator"),
    ("nobody", "no user"),
    ("anew", "again"),
    ("by itself", "automatically"),
    ("meanwhile", "the event: during the change"),
    ("goes away", "leaves, ends"),
    ("waited for", "the actor: … waits for"),
    ("basis points", "percent"),
];

/// The pages that people write, with their texts: those of the root and everything in `docs` but what programs write.
fn pages() -> Vec<(String, String)> {
    let roots = ["README.md", "ctl/README.md", "SECURITY.md", "ARCHITECTURE.md"];
    let mut found = roots.map(str::to_owned).to_vec();
    for folder in ["docs", "docs/guides", "docs/reference"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        found.extend(
            names.filter(|name| name.strip_suffix(".md").is_some()).map(|name| format!("{folder}/{name}")),
        );
    }
    let read = |page: String| {
        let text = std::fs::read_to_string(root().join(&page)).unwrap();
        (page, text)
    };
    let pages: Vec<_> =
        found.into_iter().map(read).filter(|(_, text)| !text.contains("<!-- Written by")).collect();
    assert!(pages.len() > 35, "{}", pages.len());
    pages
}

/// The paragraphs, list items and cells of a page, without blocks of code.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_fence || is_code || line.is_empty() {
            found.push(String::new());
            continue;
        }
        let is_numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if is_numbered || ["|", "#", "- ", "* ", "> ", "<"].iter().any(|start| line.starts_with(start)) {
            found.push(String::new());
        }
        if line.starts_with('|') {
            found.extend(line.split('|').map(str::to_owned));
            continue;
        }
        if let Some(last) = found.last_mut() {
            last.push_str(line);
            last.push(' ');
        }
    }
    found
}

/// A paragraph with a word in the place of each code span, and links without their targets.
fn prose(paragraph: &str) -> String {
    let spans = paragraph.split('`').enumerate();
    let words: String = spans.map(|(index, span)| if index % 2 == 0 { span } else { "X" }).collect();
    let mut links = words.split("](");
    let first = links.next().unwrap_or_default().to_owned();
    links.fold(first, |text, rest| text + rest.split_once(')').map_or("", |(_, after)| after))
}

fn sentences(prose: &str) -> Vec<&str> {
    let ends = prose.match_indices(['.', '!', '?', ':']).map(|(at, end)| at + end.len());
    let ends = ends.filter(|at| prose.get(*at..).is_some_and(|rest| rest.starts_with(' ')));
    let mut from = 0;
    let mut found = Vec::new();
    for at in ends.chain([prose.len()]) {
        found.extend(prose.get(from..at).map(str::trim));
        from = at;
    }
    found
}

fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[test]
fn sentences_are_found_in_paragraphs_items_and_cells_and_not_in_code() {
    let page = "# A title\nOne `a b c` here. Two [link text](a.md)\ngo on: three.\n```sh\ncode. more\n```\n| four. five | six |\n";
    let found: Vec<String> = paragraphs(page).iter().map(|paragraph| prose(paragraph)).collect();
    let found: Vec<&str> =
        found.iter().flat_map(|prose| sentences(prose)).filter(|one| !one.is_empty()).collect();
    assert_eq!(found, ["# A title One X here.", "Two [link text go on:", "three.", "four.", "five", "six"]);
    assert_eq!(words("Two – X go on:"), 4);
}

#[test]
fn no_sentence_of_a_page_is_too_long_and_none_has_a_word_that_is_not_used() {
    let mut faults = Vec::new();
    for (page, text) in pages() {
        for prose in paragraphs(&text).iter().map(|paragraph| prose(paragraph)) {
            for sentence in sentences(&prose) {
                let count = words(sentence);
                if count > MAX_WORDS {
                    faults.push(format!("{page}: {count} words, expected {MAX_WORDS} at most: {sentence}"));
                }
                let lower = format!(" {} ", sentence.to_lowercase().replace(['.', ',', ';', ':', '*'], " "));
                let unused = UNUSED.iter().filter(|(word, _)| lower.contains(&format!(" {word} ")));
                faults.extend(
                    unused.map(|(word, better)| {
                        format!("{page}: expected {better}, found `{word}`: {sentence}")
                    }),
                );
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Three sentences are a paragraph, and have their place below the table.
#[test]
fn no_cell_of_a_table_needs_three_sentences() {
    let mut faults = Vec::new();
    for (page, text) in pages() {
        for row in text.lines().filter(|line| line.starts_with('|')) {
            let is_whole = |one: &&str| words(one) > 0 && !one.ends_with(':');
            let cells = row.split('|').map(prose);
            let long = cells.filter(|cell| sentences(cell).into_iter().filter(is_whole).count() > 2);
            faults.extend(long.map(|cell| format!("{page}: {cell}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The rows that a text has on a screen of 80 columns, wrapped between words.
fn rows(text: &str) -> usize {
    let rows_of = |line: &str| {
        let (mut rows, mut column) = (1, 0);
        for word in line.split(' ') {
            let width = word.chars().count();
            if column > 0 && column + 1 + width > 80 {
                (rows, column) = (rows + 1, 0);
            }
            column += width + usize::from(column > 0);
        }
        rows
    };
    text.lines().map(rows_of).sum()
}

#[test]
fn the_first_screen_of_the_readme_says_what_it_is_whom_it_is_for_and_how_one_gets_it() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let lines = readme.lines().count();
    assert!((110..=130).contains(&lines), "README.md has {lines} lines, expected 110 to 130");
    let last = "## Get it\n\n";
    let (before, after) = readme.split_once(last).unwrap();
    let first = format!("{before}{last}{}", after.split("\n\n").next().unwrap());
    assert!(rows(&first) <= 45, "what, for whom and how take {} rows of 80 columns:\n{first}", rows(&first));
    for part in
        ["Canary releases on Istio", "**The problem.**", "## Is it for you?", "docs/install.md", "./x demo"]
    {
        assert!(first.contains(part), "expected `{part}` in\n{first}");
    }
}

/// Prose has a space before the sign (`20 %`); what is typed or printed has none (`20%`). Pages that programs write have what those print.
#[test]
fn percent_has_one_spelling_in_the_prose_of_pages() {
    for (page, text) in pages() {
        for prose in paragraphs(&text).iter().map(|paragraph| prose(paragraph)) {
            let is_joined = |at: usize| {
                prose.get(..at).is_some_and(|before| before.ends_with(|end: char| end.is_ascii_digit()))
            };
            let joined = prose.match_indices('%').find(|(at, _)| is_joined(*at));
            assert!(joined.is_none(), "{page}: expected `20 %`, found: {prose}");
        }
    }
}

/// Doc comments that begin with a noun clause: fewer each time, and no new ones.
#[test]
fn doc_comments_name_the_thing_and_noun_clauses_become_fewer() {
    for (folder, most) in NOUN_CLAUSES {
        let count = noun_clauses(&root().join(folder));
        assert!(
            count <= most,
            "{folder}: {count} doc comments begin with a noun clause (`What …`), expected {most} at most: name the thing"
        );
    }
}

/// The number of them in each crate now.
const NOUN_CLAUSES: [(&str, usize); 10] = [
    ("assignment", 0),
    ("filter", 0),
    ("ctl/controller", 0),
    ("ctl/dashboard/src", 0),
    ("ctl/jar", 0),
    ("ctl/src", 10),
    ("ctl/release/src", 0),
    ("ctl/operations/src", 0),
    ("ctl/twins/src", 0),
    ("ctl/yaml/src", 0),
];

fn noun_clauses(folder: &Path) -> usize {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let clauses = ["/// What ", "/// Who ", "/// Where ", "/// How ", "/// Why "];
    let count = |text: String| {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let begins = lines.iter().enumerate().filter(|(at, line)| {
            let follows = at.checked_sub(1).and_then(|before| lines.get(before));
            clauses.iter().any(|clause| line.starts_with(clause))
                && !follows.is_some_and(|line| line.starts_with("///"))
        });
        begins.count()
    };
    files.iter().map(|path| count(std::fs::read_to_string(path).unwrap())).sum()
}
