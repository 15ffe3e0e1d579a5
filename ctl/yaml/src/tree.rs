//! A tree of values with their places.

use std::fmt;
use std::ops::Range;

/// A place in a file, both numbers from 1, the column in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its beginning.
    pub place: Place,
    /// The bytes it covers: for block collections to the end of their last value, without trailing comments.
    pub range: Range<usize>,
    /// Its value.
    pub value: Value,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar, its escapes undone, and whether it stood there without quotes.
    Scalar(String, bool),
    /// A sequence.
    Sequence(Vec<Node>),
    /// A mapping, in the order of the file.
    Mapping(Vec<Entry>),
}

/// One line of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key; only scalars are keys here.
    pub key: String,
    /// Whether it stood there without quotes.
    pub is_plain: bool,
    /// The beginning of the key.
    pub place: Place,
    /// The bytes of the key.
    pub range: Range<usize>,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The size of a copy.
    pub(super) fn size(&self) -> Size {
        let mut size = Size { values: 1, bytes: 0, depth: 0 };
        match &self.value {
            Value::Scalar(text, _) => size.bytes = text.len(),
            Value::Sequence(items) => items.iter().for_each(|item| size.add(item.size())),
            Value::Mapping(entries) => {
                for entry in entries {
                    size.bytes += entry.key.len();
                    size.add(entry.node.size());
                }
            }
        }
        size.depth += 1;
        size
    }

    /// The value under a name, if this is a mapping that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match &self.value {
            Value::Mapping(entries) => {
                entries.iter().find(|entry| entry.key == name).map(|entry| &entry.node)
            }
            _ => None,
        }
    }

    /// Its kind, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar(text, true) if text.is_empty() || text == "~" || text == "null" => "nothing",
            Value::Scalar(..) => "a value",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }
}

/// The size of a node, itself included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// The number of values.
    pub values: usize,
    /// The bytes of their texts and keys.
    pub bytes: usize,
    /// The depth of nesting; 1 for a scalar.
    pub depth: usize,
}

impl Size {
    fn add(&mut self, within: Self) {
        self.values += within.values;
        self.bytes += within.bytes;
        self.depth = self.depth.max(within.depth);
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
