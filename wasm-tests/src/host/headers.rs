//! The header map of a message with the rules that Envoy's has: lower-case names, order kept, repeated lines kept apart.

use std::fmt;

use super::wire::{self, Pair};

/// Headers in order, names in lower case, values as raw bytes.
///
/// Pseudo headers (`:path`, `:status` …) are lines like all others.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    lines: Vec<Pair>,
}

/// Single-valued ("inline") headers: Envoy keeps one line of each and joins later ones with a comma
/// (`envoy/http/header_map.h`). `cookie` and `set-cookie` are not among them: their lines stay apart.
const INLINE: [&str; 22] = [
    ":authority",
    ":method",
    ":path",
    ":protocol",
    ":scheme",
    ":status",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-forwarded-client-cert",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-request-id",
];

impl Headers {
    /// No lines.
    pub fn new() -> Self {
        Self::default()
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
        if INLINE.iter().any(|inline| inline.as_bytes() == name)
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

impl<N: AsRef<[u8]>, V: AsRef<[u8]>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(lines: I) -> Self {
        let mut headers = Self::new();
        for (name, value) in lines {
            headers.add(name, value);
        }
        headers
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self
            .lines
            .iter()
            .map(|(name, value)| format!("{}: {}", name.escape_ascii(), value.escape_ascii()));
        f.debug_list().entries(lines).finish()
    }
}
