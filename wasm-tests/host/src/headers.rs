//! The header map of a message with the rules that Envoy's has: lower-case names, order kept, repeated lines kept apart.

use std::fmt;

use super::inline;
use super::wire::{self, Pair};

/// Headers in order, names in lower case, values as raw bytes; equal when their lines are.
///
/// Pseudo headers (`:path`, `:status` …) are lines like all others.
#[derive(Clone)]
pub struct Headers {
    lines: Vec<Pair>,
    /// Names that have one line only.
    single: &'static [&'static str],
}

impl Headers {
    /// A request's headers: no lines yet.
    pub fn request() -> Self {
        Self { lines: Vec::new(), single: inline::REQUEST }
    }

    /// A response's headers: no lines yet.
    pub fn response() -> Self {
        Self { lines: Vec::new(), single: inline::RESPONSE }
    }

    /// These lines, added one after the other.
    #[must_use]
    pub fn with<N: AsRef<[u8]>, V: AsRef<[u8]>>(mut self, lines: impl IntoIterator<Item = (N, V)>) -> Self {
        for (name, value) in lines {
            self.add(name, value);
        }
        self
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// The first line of that name; names are compared without case.
    pub fn get(&self, name: impl AsRef<[u8]>) -> Option<&[u8]> {
        self.all(name).next()
    }

    /// As [`Headers::get`], as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self, name: impl AsRef<[u8]>) -> Option<String> {
        self.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Every line of that name, in order.
    pub fn all(&self, name: impl AsRef<[u8]>) -> impl Iterator<Item = &[u8]> {
        let name = name.as_ref().to_ascii_lowercase();
        self.lines.iter().filter(move |(key, _)| *key == name).map(|(_, value)| value.as_slice())
    }

    /// Every line of that name as text, in order; handy in assertions.
    pub fn texts(&self, name: impl AsRef<[u8]>) -> Vec<String> {
        self.all(name).map(|value| String::from_utf8_lossy(value).into_owned()).collect()
    }

    /// Adds a line; a second line of a single-valued header is joined to the first with a comma.
    pub fn add(&mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        let name = name.as_ref().to_ascii_lowercase();
        let value = value.as_ref();
        if self.single.iter().any(|single| single.as_bytes() == name)
            && let Some((_, existing)) = self.lines.iter_mut().find(|(key, _)| *key == name)
        {
            existing.push(b',');
            existing.extend_from_slice(value);
            return;
        }
        self.lines.push((name, value.to_vec()));
    }

    /// Removes all lines of that name and adds one at the end (`HeaderMapImpl::setCopy`).
    pub fn replace(&mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        self.remove(name.as_ref());
        self.add(name, value);
    }

    /// Removes all lines of that name; none is fine.
    pub fn remove(&mut self, name: impl AsRef<[u8]>) {
        let name = name.as_ref().to_ascii_lowercase();
        self.lines.retain(|(key, _)| *key != name);
    }

    /// All lines in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.lines.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Length of all names and values together, in bytes: what `proxy_get_header_map_size` answers.
    pub fn byte_size(&self) -> usize {
        self.lines.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// The layout that the guest gets; see [`wire::encode_pairs`].
    pub(crate) fn encode(&self) -> Vec<u8> {
        wire::encode_pairs(self.pairs())
    }
}

impl PartialEq for Headers {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

impl Eq for Headers {}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self
            .lines
            .iter()
            .map(|(name, value)| format!("{}: {}", name.escape_ascii(), value.escape_ascii()));
        f.debug_list().entries(lines).finish()
    }
}
