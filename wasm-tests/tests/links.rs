//! The pages lead to each other: every relative link goes to a file that exists, and to a heading of it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The contents of the site. Its links are from the top of the repository.
const CONTENTS: &str = "tools/site/SUMMARY.md";

/// The pages of the repository but the contents, as git lists them.
fn pages() -> Vec<String> {
    let output = Command::new("git").args(["ls-files", "--", "*.md"]).current_dir(root()).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let pages: Vec<String> = output.lines().filter(|page| *page != CONTENTS).map(str::to_owned).collect();
    assert!(pages.len() > 20, "git lists the pages: {pages:?}");
    pages
}

/// A page without its blocks and spans of code, whose brackets are no links.
fn prose(text: &str) -> String {
    let outside = text.split("```").step_by(2).collect::<Vec<_>>().concat();
    outside.split('`').step_by(2).collect::<Vec<_>>().join("")
}

/// Where a page's links lead, in the order of the page.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text);
    let ends = prose.split("](").skip(1);
    ends.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The headings of a page as a link names them: GitHub's rule, which is that of mdBook.
fn anchors(text: &str) -> BTreeSet<String> {
    let outside = text.split("```").step_by(2).collect::<Vec<_>>().concat();
    let headings =
        outside.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings.map(anchor).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

/// What is wrong with a link of a page; `None` if nothing is.
fn fault(page: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = root().join(page).parent().unwrap().to_owned();
    let path = if file.is_empty() { root().join(page) } else { folder.join(file) };
    if !path.exists() {
        return Some(format!("{page}: expected the file of the link `{target}`, found none"));
    }
    let is_there = heading.is_empty() || anchors(&std::fs::read_to_string(&path).unwrap()).contains(heading);
    (!is_there).then(|| format!("{page}: expected the heading of the link `{target}`, found none"))
}

#[test]
fn every_link_between_the_pages_leads_to_a_file_and_a_heading() {
    let mut links = 0;
    let mut faults = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(root().join(&page)).unwrap();
        for target in targets(&text) {
            links += 1;
            faults.extend(fault(&page, &target));
        }
    }
    assert!(links > 100, "the pages have links: {links}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn links_and_headings_are_read_as_browsers_read_them() {
    let text =
        "# A `code`, and more\n[a](b.md#c) `[no](link)`\n```sh\n# no heading\n[no](link)\n```\n[d](#e)";
    assert_eq!(targets(text), ["b.md#c", "#e"]);
    assert_eq!(anchors(text), BTreeSet::from(["a-code-and-more".to_owned()]));
    assert!(
        fault("README.md", "docs/nowhere.md").is_some()
            && fault("README.md", "docs/istio.md#nowhere").is_some()
    );
    assert_eq!(fault("README.md", "docs/istio.md#isolation"), None);
}

#[test]
fn every_page_of_the_docs_is_in_the_contents_of_the_site() {
    let listed = targets(&std::fs::read_to_string(root().join(CONTENTS)).unwrap())
        .into_iter()
        .collect::<BTreeSet<_>>();
    let docs = pages().into_iter().filter(|page| page.starts_with("docs/")).collect::<BTreeSet<_>>();
    assert!(docs.is_subset(&listed), "{CONTENTS} lacks {:?}", docs.difference(&listed));
    let missing: Vec<&String> = listed.iter().filter(|page| !root().join(page).exists()).collect();
    assert!(missing.is_empty(), "{CONTENTS} names {missing:?}, which do not exist");
}
