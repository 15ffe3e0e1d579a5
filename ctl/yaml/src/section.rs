//! Reads mappings into types and collects every fault on the way instead of stopping at the first.

use super::{Entry, Node, Place, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// One thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// The expected and the found value.
    pub message: String,
    /// A hint: what the user can change.
    pub hint: Option<String>,
}

/// The result of reading one file: its faults, and the place of every field that was read.
#[derive(Debug, Default)]
pub struct Faults {
    found: RefCell<Vec<Fault>>,
    places: RefCell<BTreeMap<String, Place>>,
}

impl Faults {
    /// Notes a fault.
    pub fn note(&self, place: Place, message: impl Into<String>, hint: Option<String>) {
        self.found.borrow_mut().push(Fault { place, message: message.into(), hint });
    }

    /// All faults in the order of the file, and the places of all fields.
    pub fn finish(self) -> (Vec<Fault>, BTreeMap<String, Place>) {
        let mut found = self.found.into_inner();
        found.sort_by_key(|fault| fault.place);
        (found, self.places.into_inner())
    }

    fn at(&self, path: &str, place: Place) {
        self.places.borrow_mut().insert(path.to_owned(), place);
    }
}

/// A mapping being read. It records which fields were read, so that the others can be reported as unknown.
pub struct Section<'a> {
    faults: &'a Faults,
    path: String,
    place: Place,
    entries: &'a [Entry],
    asked: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// Begins to read a node that should be a mapping; notes a fault and reads nothing if it is none.
    pub fn new(faults: &'a Faults, path: impl Into<String>, node: &'a Node) -> Self {
        let entries = if let Value::Mapping(entries) = &node.value {
            entries.as_slice()
        } else {
            faults.note(node.place, format!("expected a mapping, found {}", node.kind()), None);
            &[]
        };
        Self { faults, path: path.into(), place: node.place, entries, asked: Vec::new() }
    }

    /// The node under a name. A field without a value counts as left out.
    pub fn node(&mut self, name: &'static str) -> Option<&'a Node> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        let entry = self.entries.iter().find(|entry| entry.key == name)?;
        self.faults.at(&self.path_of(name), entry.place);
        (entry.node.kind() != "nothing").then_some(&entry.node)
    }

    /// The node under a name, which has to be there.
    pub fn required(&mut self, name: &'static str) -> Option<&'a Node> {
        let node = self.node(name);
        if node.is_none() {
            self.faults.note(self.place, format!("`{}` is missing", self.path_of(name)), None);
        }
        node
    }

    /// A text.
    pub fn text(&mut self, name: &'static str) -> Option<String> {
        let node = self.node(name)?;
        self.scalar(node).map(str::to_owned)
    }

    /// A text that has to be there.
    pub fn required_text(&mut self, name: &'static str) -> Option<String> {
        let node = self.required(name)?;
        self.scalar(node).map(str::to_owned)
    }

    /// A text that its type understands.
    pub fn parsed<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Option<T> {
        let node = self.node(name)?;
        self.parse(node)
    }

    /// A text that its type understands and that has to be there.
    pub fn required_parsed<T: FromStr<Err: Display>>(&mut self, name: &'static str) -> Option<T> {
        let node = self.required(name)?;
        self.parse(node)
    }

    /// One of some words.
    pub fn choice<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let node = self.node(name)?;
        self.chosen(node, words)
    }

    /// One of some words, at a node.
    pub fn chosen<T: Copy>(&self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let text = self.scalar(node)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let message = format!("expected {}, found `{text}`", one_of(&known));
            self.faults.note(node.place, message, nearest(text, &known));
        }
        found
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.choice(name, &[("true", true), ("false", false)])
    }

    /// A list, its items with their paths.
    pub fn list(&mut self, name: &'static str) -> Option<Vec<(String, &'a Node)>> {
        let node = self.node(name)?;
        self.items(name, node)
    }

    /// A list of texts.
    pub fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        let items = self.list(name)?;
        Some(items.into_iter().filter_map(|(_, node)| self.scalar(node)).map(str::to_owned).collect())
    }

    /// A mapping of texts.
    pub fn pairs(&mut self, name: &'static str) -> Option<BTreeMap<String, String>> {
        let inner = self.entries_of(name)?;
        let read = |entry: &Entry| Some((entry.key.clone(), self.scalar(&entry.node)?.to_owned()));
        Some(inner.iter().filter_map(read).collect())
    }

    /// The entries of a mapping whose names are the user's.
    pub fn entries_of(&mut self, name: &'static str) -> Option<&'a [Entry]> {
        let node = self.node(name)?;
        if let Value::Mapping(entries) = &node.value {
            return Some(entries);
        }
        self.faults.note(node.place, format!("expected a mapping, found {}", node.kind()), None);
        None
    }

    /// A mapping within.
    pub fn section(&mut self, name: &'static str) -> Option<Self> {
        let node = self.node(name)?;
        Some(Self::new(self.faults, self.path_of(name), node))
    }

    /// A mapping within that has to be there.
    pub fn required_section(&mut self, name: &'static str) -> Option<Self> {
        let node = self.required(name)?;
        Some(Self::new(self.faults, self.path_of(name), node))
    }

    /// The items of a node that should be a list.
    pub fn items(&self, name: &str, node: &'a Node) -> Option<Vec<(String, &'a Node)>> {
        let Value::Sequence(items) = &node.value else {
            self.faults.note(node.place, format!("expected a list, found {}", node.kind()), None);
            return None;
        };
        let path_of = |index: usize| format!("{}[{index}]", self.path_of(name));
        let items: Vec<_> = items.iter().enumerate().map(|(index, node)| (path_of(index), node)).collect();
        for (path, node) in &items {
            self.faults.at(path, node.place);
        }
        Some(items)
    }

    /// A scalar's text at a node. Nothing is none: `- null` is no host of that name.
    pub fn scalar<'n>(&self, node: &'n Node) -> Option<&'n str> {
        if let Value::Scalar(text, _) = &node.value
            && node.kind() != "nothing"
        {
            return Some(text);
        }
        self.faults.note(node.place, format!("expected a value, found {}", node.kind()), None);
        None
    }

    /// A scalar that its type understands, at a node.
    pub fn parse<T: FromStr<Err: Display>>(&self, node: &Node) -> Option<T> {
        let text = self.scalar(node)?;
        text.parse().map_err(|error: T::Err| self.faults.note(node.place, error.to_string(), None)).ok()
    }

    /// Notes a fault of this section.
    pub fn fault(&self, place: Place, message: impl Into<String>, hint: Option<String>) {
        self.faults.note(place, message, hint);
    }

    /// Its beginning.
    pub const fn place(&self) -> Place {
        self.place
    }

    /// The collector of faults, for readers of its parts.
    pub const fn faults(&self) -> &'a Faults {
        self.faults
    }

    /// Ends the reading: every field that was not read is a fault. Returns the number of these faults.
    pub fn finish(self) -> usize {
        let is_unknown = |entry: &&Entry| !self.asked.contains(&entry.key.as_str());
        let unknown: Vec<&Entry> = self.entries.iter().filter(is_unknown).collect();
        for entry in &unknown {
            let message = format!("unknown field `{}`", self.path_of(&entry.key));
            let hint = nearest(&entry.key, &self.asked)
                .or_else(|| Some(format!("fields here: {}", self.asked.join(", "))));
            self.faults.note(entry.place, message, hint);
        }
        unknown.len()
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

/// The known word for `did you mean`, if one is near enough.
fn nearest(word: &str, known: &[&str]) -> Option<String> {
    const NEAR_ENOUGH: f64 = 0.75;
    let similarity = |known: &str| strsim::jaro_winkler(&word.to_lowercase(), &known.to_lowercase());
    let (score, best) = known
        .iter()
        .map(|known| (similarity(known), *known))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (score >= NEAR_ENOUGH).then(|| format!("did you mean `{best}`?"))
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
