//! What a text may have: so many values, so many bytes behind its aliases, so deep a nesting.
//!
//! An alias is read as a copy of what it names, so 200 kB of aliases of one long text would be gigabytes.

use super::parse::SyntaxError;
use super::tree::{Node, Place};

/// The deepest nesting: a value within so many lists and mappings.
const MAX_DEPTH: usize = 100;
/// The size of the copies for anchors and aliases, in multiples of the text.
const COPIES: usize = 4;
/// The size that they may have in any text, in MiB.
const COPIED_MIB: usize = 1;

pub(super) struct Limits {
    /// The number of open collections.
    depth: usize,
    max_values: usize,
    /// The number of them that is left.
    values: usize,
    max_bytes: usize,
    /// The remaining bytes for copied texts and keys.
    bytes: usize,
}

impl Limits {
    pub(super) fn new(text: &str, max_values: usize) -> Self {
        let max_bytes = text.len().saturating_mul(COPIES).saturating_add(COPIED_MIB << 20);
        Self { depth: 0, max_values, values: max_values, max_bytes, bytes: max_bytes }
    }

    /// Begins a value.
    pub(super) fn open(&mut self, place: Place) -> Result<(), SyntaxError> {
        check_depth(self.depth, place)?;
        self.take_values(1, place)?;
        self.depth += 1;
        Ok(())
    }

    /// Ends a value.
    pub(super) fn close(&mut self) {
        self.depth -= 1;
    }

    /// Allows for a copy of a node, before it is made, where a value is open.
    pub(super) fn copy(&mut self, node: &Node, place: Place) -> Result<(), SyntaxError> {
        let size = node.size();
        // The open value is the copy, or what is copied: it is one of the values that are nested in the node.
        check_depth((self.depth + size.depth).saturating_sub(2), place)?;
        self.take_values(size.values, place)?;
        self.bytes = self.bytes.checked_sub(size.bytes).ok_or_else(|| {
            let message = format!(
                "expected at most {} bytes of what anchors and aliases name ({COPIES} times the file and {COPIED_MIB} MiB), found more",
                self.max_bytes
            );
            SyntaxError { hint: Some("write fewer aliases of long values"), ..SyntaxError::new(place, message) }
        })?;
        Ok(())
    }

    fn take_values(&mut self, count: usize, place: Place) -> Result<(), SyntaxError> {
        let message =
            || format!("expected at most {} values, those of aliases included, found more", self.max_values);
        self.values = self.values.checked_sub(count).ok_or_else(|| SyntaxError::new(place, message()))?;
        Ok(())
    }
}

/// Refuses values that are nested deeper than the stack has room for, in aliases of aliases too.
fn check_depth(depth: usize, place: Place) -> Result<(), SyntaxError> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let message = format!("expected values nested at most {MAX_DEPTH} deep, found deeper ones");
    Err(SyntaxError::new(place, message))
}

#[cfg(test)]
mod tests {
    use super::super::{Place, documents_within, parse};

    /// Of many aliases each, the text small: what a copy takes must be counted, whatever it is.
    fn bombs() -> [(&'static str, String); 6] {
        let many = |alias: &str| vec![alias; 30_000].join(",");
        let long = "x".repeat(100_000);
        let nested: Vec<String> =
            (1..20).map(|level| format!("l{level}: &l{level} [*l{0}, *l{0}]\n", level - 1)).collect();
        let nested = nested.concat();
        let nesting: Vec<String> = (0..90).map(|level| format!("&a{level} [")).collect();
        let nesting = nesting.concat();
        [
            ("a text", format!("x: &a '{long}'\nv: [{}]\n", many("*a"))),
            ("a mapping", format!("x: &a {{k: '{long}'}}\nv: [{}]\n", many("*a"))),
            ("a long key", format!("x: &a\n  ? {long}\n  : 1\nv: [{}]\n", many("*a"))),
            ("a text in aliases of aliases", format!("l0: &l0 '{long}'\n{nested}")),
            ("merged mappings", format!("x: &a {{k: '{long}'}}\nv: [{}]\n", many("{<<: *a}"))),
            ("anchors in anchors", format!("v: {nesting}'{long}'{}\n", "]".repeat(90))),
        ]
    }

    #[test]
    fn the_bytes_that_aliases_stand_for_are_limited() {
        for (what, text) in bombs() {
            let error = documents_within(&text, 500_000).map(|_| ()).expect_err(what);
            let limit = text.len() * 4 + (1 << 20);
            let expected = format!(
                "expected at most {limit} bytes of what anchors and aliases name (4 times the file and 1 MiB), found more"
            );
            assert_eq!(error.message, expected, "{what}");
        }
    }

    #[test]
    fn a_file_of_anchored_blocks_may_use_each_a_few_times() {
        let blocks: Vec<String> = (0..100)
            .map(|n| format!("b{n}: &b{n} {{k: {}}}\nc{n}: [*b{n}, *b{n}]\n", "x".repeat(20_000)))
            .collect();
        parse(&blocks.concat()).unwrap();
    }

    #[test]
    fn aliases_of_aliases_do_not_take_all_memory() {
        let levels = (1..20).map(|level| {
            let items = vec![format!("*l{}", level - 1); 9].join(", ");
            format!("l{level}: &l{level} [{items}]\n")
        });
        let text: String = std::iter::once("l0: &l0 x\n".to_owned()).chain(levels).collect();
        let error = parse(&text).unwrap_err();
        let expected = "expected at most 100000 values, those of aliases included, found more";
        assert_eq!((error.message.as_str(), error.place.line), (expected, 6));
    }

    #[test]
    fn deep_nesting_is_an_error_and_does_not_overflow_the_stack() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        parse(&nested(100)).unwrap();
        for depth in [101, 100_000] {
            let error = parse(&nested(depth)).unwrap_err();
            assert!(!error.message.is_empty(), "{depth}: {error:?}");
        }
    }

    /// Each line is shallow, and the values are not: reading, comparing and writing them calls itself for each level.
    #[test]
    fn aliases_do_not_nest_deeper_than_what_is_written_out() {
        let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(40), "]".repeat(40));
        let text = format!("a: &a {}\nb: &b {}\nc: &c {}\n", nested("x"), nested("*a"), nested("*b"));
        let error = parse(&text).unwrap_err();
        let expected = "expected values nested at most 100 deep, found deeper ones";
        assert_eq!((error.message.as_str(), error.place), (expected, Place { line: 3, column: 47 }));
    }
}
