//! The rooms of a crate lie on floors: each imports rooms of the floors below it alone.

use crate::{root, sources};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::Path;

/// The rooms of `canary-release`, the lowest floor first.
const RELEASE: [&[&str]; 16] = [
    &[
        "data_plane",
        "embedded_module",
        "format",
        "input_file",
        "label_selector",
        "moved_users",
        "redaction",
        "stats",
    ],
    &["object"],
    &["spec"],
    &["destination_rule", "discover", "prometheus", "resource", "routing"],
    &["metrics"],
    &["evidence", "state"],
    &["alert", "analysis", "config"],
    &["delivery", "file", "hook"],
    &["assessment", "import", "lint", "manifest"],
    &["rollout"],
    &["record"],
    &["preflight", "train"],
    &["plan"],
    &["rbac"],
    &["status"],
    &["doctor"],
];

/// The rooms of `canary-operations`. Their methods of `Cluster` are called without a path, so this test does not see those calls.
const OPERATIONS: [&[&str]; 12] = [
    &["error"],
    &["client"],
    &["metrics_reader"],
    &["stores"],
    &["cluster"],
    &["proxies"],
    &["observe"],
    &["write"],
    &["operation"],
    &["report"],
    &["rollout"],
    &["uninstall"],
];

/// The items that `lib.rs` exports, with their rooms: other rooms name them by `crate::Item`.
fn exports(lib: TokenStream) -> BTreeMap<String, String> {
    let tokens: Vec<TokenTree> = lib.into_iter().collect();
    let is_use = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if *word == "use");
    let trees = tokens.split(|token| is_semicolon(Some(token))).filter_map(|item| {
        let start = item.iter().position(is_use)?;
        let mut found = Vec::new();
        branches(item[start + 1..].iter().cloned().collect(), &[], &mut found);
        Some(found)
    });
    trees.flatten().map(|path| (path.last().unwrap().clone(), path[0].clone())).collect()
}

/// The paths of a source that begin with `crate`, `super` or `self`, those in `use` trees in full; without its unit tests.
fn paths(tokens: TokenStream) -> Vec<Vec<String>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Ident(word) if ["crate", "super", "self"].contains(&word.to_string().as_str()) => {
                let mut path = vec![word.to_string()];
                at += 1 + follow(&tokens[at + 1..], &mut path, &mut found);
                continue;
            }
            TokenTree::Punct(mark) if mark.as_char() == '#' && is_for_tests(tokens.get(at + 1)) => {
                // To the end of the item after the attribute.
                at += 2;
                while at < tokens.len() && !is_body(tokens.get(at)) && !is_semicolon(tokens.get(at)) {
                    at += 1;
                }
            }
            TokenTree::Group(group) => found.extend(paths(group.stream())),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
    found
}

/// Reads what follows the beginning of a path; returns the number of tokens.
fn follow(tokens: &[TokenTree], path: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let mut at = 0;
    while is_colon(tokens.get(at)) && is_colon(tokens.get(at + 1)) {
        match tokens.get(at + 2) {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                branches(group.stream(), path, found);
                return at + 3;
            }
            _ => break,
        }
        at += 3;
    }
    found.push(path.clone());
    at
}

/// The branches of a `use` tree.
fn branches(tokens: TokenStream, before: &[String], found: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for branch in tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')) {
        let mut path = before.to_vec();
        match branch.first() {
            Some(TokenTree::Ident(name)) => {
                path.push(name.to_string());
                follow(&branch[1..], &mut path, found);
            }
            _ => found.push(path),
        }
    }
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':')
}

fn is_semicolon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ';')
}

fn is_body(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

/// Whether an attribute is `#[cfg(test)]`.
fn is_for_tests(attribute: Option<&TokenTree>) -> bool {
    matches!(attribute, Some(TokenTree::Group(group)) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// The modules of a source, from its path below `src`: `plan/change.rs` is `[plan, change]`.
fn module(relative: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        relative.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

/// The room that a path leads to, from a module.
fn room_of(path: &[String], module: &[String], exports: &BTreeMap<String, String>) -> Option<String> {
    let mut base: Vec<String> = if path[0] == "crate" { Vec::new() } else { module.to_vec() };
    let climbs = path.iter().filter(|name| *name == "super").count();
    base.truncate(base.len().saturating_sub(climbs));
    base.extend(path.iter().filter(|name| !["crate", "super", "self"].contains(&name.as_str())).cloned());
    let first = base.into_iter().next()?;
    Some(exports.get(&first).cloned().unwrap_or(first))
}

/// What is wrong in a crate: a room that imports one of its own floor or above, or that has no floor.
fn faults(folder: &str, floors: &[&[&str]]) -> Vec<String> {
    let floor_of: BTreeMap<&str, usize> = floors
        .iter()
        .enumerate()
        .flat_map(|(floor, rooms)| rooms.iter().map(move |room| (*room, floor)))
        .collect();
    let (source, mut files) = (root().join(folder), Vec::new());
    sources(&source, &mut files);
    assert!(files.len() > 10, "{folder} holds sources: {files:?}");
    let exports = exports(std::fs::read_to_string(source.join("lib.rs")).unwrap().parse().unwrap());
    let mut faults = Vec::new();
    for file in
        files.iter().filter(|file| !file.ends_with("lib.rs") && !file.to_string_lossy().ends_with("tests.rs"))
    {
        let relative = file.strip_prefix(&source).unwrap();
        let module = module(relative);
        let own = module[0].as_str();
        let Some(floor) = floor_of.get(own) else {
            faults.push(format!("{}: room `{own}` has no floor", relative.display()));
            continue;
        };
        let text = std::fs::read_to_string(file).unwrap();
        for path in paths(text.parse().unwrap()) {
            let Some(room) = room_of(&path, &module, &exports) else { continue };
            let is_below = floor_of.get(room.as_str()).is_some_and(|other| other < floor);
            if room != own && !is_below {
                faults.push(format!("{}: `{}` is not below `{own}`", relative.display(), path.join("::")));
            }
        }
    }
    faults
}

#[test]
fn each_room_imports_rooms_of_the_floors_below_it_alone() {
    let faults = [faults("ctl/release/src", &RELEASE), faults("ctl/operations/src", &OPERATIONS)].concat();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn paths_of_a_source_are_found_in_trees_and_in_code_and_not_in_its_tests() {
    let source = "
        use crate::object::{self, Reference, stage::{Stage, Manifest}};
        use super::kinds;
        fn one(text: &crate::spec::Name) -> Vec<self::Inner> { super::super::two::<u8>() }
        #[cfg(test)]
        mod tests {
            use crate::plan::Plan;
        }
        #[cfg(test)]
        use crate::doctor::Finding;
        fn after() { crate::format::counted() }
    ";
    let found: Vec<String> = paths(source.parse().unwrap()).iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::object::self",
        "crate::object::Reference",
        "crate::object::stage::Stage",
        "crate::object::stage::Manifest",
        "super::kinds",
        "crate::spec::Name",
        "self::Inner",
        "super::super::two",
        "crate::format::counted",
    ];
    assert_eq!(found, expected);
    let module = module(Path::new("plan/change.rs"));
    let lib = "mod embedded_module; pub use embedded_module::{EmbeddedModule, ModuleDigest};";
    let exports = exports(lib.parse().unwrap());
    let room =
        |path: &str| room_of(&path.split("::").map(str::to_owned).collect::<Vec<_>>(), &module, &exports);
    assert_eq!(room("super::super::record::Record").as_deref(), Some("record"));
    assert_eq!(room("super::Plan").as_deref(), Some("plan"));
    assert_eq!(room("crate::ModuleDigest").as_deref(), Some("embedded_module"));
}
