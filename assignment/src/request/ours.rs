//! Finds the filter's own headers among all others.

use crate::contract::HeaderNames;

/// The number of these headers, and how many of them, counted from the first, no client may send.
const COUNT: usize = 5;
const TRUSTED: usize = 3;

/// The received values of the filter's own headers, in the order of [`HeaderNames`].
pub(super) struct Ours<'n, 'h> {
    names: [&'n [u8]; COUNT],
    /// A set of the names' lengths, one bit each: most other headers have none of these lengths.
    lengths: u64,
    /// The first line of each.
    pub(super) values: [Option<&'h [u8]>; COUNT],
    /// Whether a trusted one came in spelt with underscores, or more than once.
    pub(super) has_odd_spelling: bool,
}

impl<'n, 'h> Ours<'n, 'h> {
    pub(super) fn new(names: &'n HeaderNames) -> Self {
        let HeaderNames { routing, identity, cohort, overrides, token } = names;
        let names = [routing, identity, cohort, overrides, token].map(String::as_bytes);
        let lengths = names.iter().fold(0, |lengths, name| lengths | bit(name.len()));
        Self { names, lengths, values: [None; COUNT], has_odd_spelling: false }
    }

    /// Records a header. Returns whether it is one of the filter's own.
    pub(super) fn note(&mut self, name: &[u8], value: &'h [u8]) -> bool {
        self.lengths & bit(name.len()) != 0 && self.find(name, value)
    }

    fn find(&mut self, name: &[u8], value: &'h [u8]) -> bool {
        for (index, (ours, slot)) in self.names.iter().zip(&mut self.values).enumerate() {
            if ours.len() != name.len() {
                continue;
            }
            let is_trusted = index < TRUSTED;
            if *ours == name {
                self.has_odd_spelling |= is_trusted && slot.is_some();
                slot.get_or_insert(value);
                return true;
            }
            if is_trusted && same_with_underscores(ours, name) {
                self.has_odd_spelling = true;
                return true;
            }
        }
        false
    }
}

/// The longest lengths share a bit.
const fn bit(length: usize) -> u64 {
    1 << if length < 63 { length } else { 63 }
}

/// Whether two names of one length are the same to a server that takes `_` for `-`.
fn same_with_underscores(ours: &[u8], name: &[u8]) -> bool {
    ours.iter().zip(name).all(|(ours, name)| ours == name || (*ours == b'-' && *name == b'_'))
}
