//! From text to a tree of values. The grammar is `granit-parser`'s.

use super::tree::{Entry, Node, Place, Value};
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The text is no YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Where.
    pub place: Place,
    /// What was expected and what was found.
    pub message: String,
}

/// Reads a text of one document.
///
/// # Errors
///
/// If the text is not YAML, or has no document or more than one.
pub fn parse(text: &str) -> Result<Node, SyntaxError> {
    let mut all = documents(text)?;
    match (all.pop(), all.pop()) {
        (Some(only), None) => Ok(only),
        (Some(second), Some(_)) => Err(SyntaxError {
            place: second.place,
            message: "expected one document, found another".to_owned(),
        }),
        (None, _) => Err(SyntaxError {
            place: Place { line: 1, column: 1 },
            message: "expected a document, found none".to_owned(),
        }),
    }
}

/// Reads all documents of a text; an empty list if there are none.
///
/// # Errors
///
/// If the text is not YAML.
pub fn documents(text: &str) -> Result<Vec<Node>, SyntaxError> {
    documents_within(text, MAX_NODES)
}

/// Reads all documents of a text that may be longer than a file that people write: the objects of a chart.
///
/// # Errors
///
/// If the text is not YAML, or has more than `max_nodes` values, those of aliases included.
pub fn documents_within(text: &str, max_nodes: usize) -> Result<Vec<Node>, SyntaxError> {
    let events = Parser::new_from_str(text);
    let mut reader = Reader { events, anchors: HashMap::new(), depth: 0, max_nodes, left: max_nodes };
    let mut documents = Vec::new();
    while let Some((event, _)) = reader.next()? {
        if matches!(event, Event::DocumentStart(..)) {
            let (event, span) = reader.expect_next()?;
            documents.push(reader.node(event, &span)?);
        }
    }
    Ok(documents)
}

/// The most values of a text, what aliases stand for included: a few lines of aliases of aliases would take all memory.
const MAX_NODES: usize = 100_000;
/// The deepest nesting: a value within so many lists and mappings.
const MAX_DEPTH: usize = 100;

struct Reader<'t> {
    events: Parser<'t, granit_parser::StrInput<'t>>,
    anchors: HashMap<usize, Anchored>,
    /// How many collections are open.
    depth: usize,
    /// How many values may be read.
    max_nodes: usize,
    /// How many of them are left.
    left: usize,
}

/// What an alias stands for.
struct Anchored {
    node: Node,
    /// The number of values in it.
    count: usize,
    /// How deep they are nested.
    depth: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, SyntaxError> {
        loop {
            match self.events.next_event().transpose()? {
                Some((Event::Comment(..), _)) => {}
                other => return Ok(other),
            }
        }
    }

    fn expect_next(&mut self) -> Result<(Event<'t>, Span), SyntaxError> {
        self.next()?
            .ok_or_else(|| SyntaxError { place: Place::default(), message: "unexpected end".to_owned() })
    }

    /// Takes values from what may still be read.
    fn spend(&mut self, count: usize, place: Place) -> Result<(), SyntaxError> {
        let max_nodes = self.max_nodes;
        let message =
            || format!("expected at most {max_nodes} values, those of aliases included, found more");
        self.left = self.left.checked_sub(count).ok_or_else(|| SyntaxError { place, message: message() })?;
        Ok(())
    }

    /// Refuses values that are nested deeper than the stack has room for, in aliases of aliases too.
    fn check_depth(depth: usize, place: Place) -> Result<(), SyntaxError> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("expected values nested at most {MAX_DEPTH} deep, found deeper ones");
        Err(SyntaxError { place, message })
    }

    fn node(&mut self, event: Event<'t>, span: &Span) -> Result<Node, SyntaxError> {
        let place = Place::start_of(span);
        Self::check_depth(self.depth, place)?;
        self.spend(1, place)?;
        self.depth += 1;
        let node = self.value(event, span, place);
        self.depth -= 1;
        node
    }

    fn value(&mut self, event: Event<'t>, span: &Span, place: Place) -> Result<Node, SyntaxError> {
        let mut range = span.byte_range().unwrap_or_default();
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => {
                (Value::Scalar(text.into_owned(), style == ScalarStyle::Plain), anchor)
            }
            Event::SequenceStart(_, anchor, _) => (Value::Sequence(self.sequence(&mut range)?), anchor),
            Event::MappingStart(_, anchor, _) => (Value::Mapping(self.mapping(&mut range)?), anchor),
            Event::Alias(anchor) => {
                let missing = || SyntaxError { place, message: "an alias of nothing".to_owned() };
                let Anchored { count, depth, .. } = *self.anchors.get(&anchor).ok_or_else(missing)?;
                // The alias is one of the open values, and one of those that are nested in it.
                Self::check_depth(self.depth + depth - 2, place)?;
                self.spend(count, place)?;
                let target = self.anchors.get(&anchor).ok_or_else(missing)?.node.clone();
                return Ok(Node { place, range, ..target });
            }
            _ => return Err(SyntaxError { place, message: "expected a value".to_owned() }),
        };
        let node = Node { place, range, value };
        if anchor != 0 {
            let (count, depth) = (node.count(), node.depth());
            self.spend(count, place)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), count, depth });
        }
        Ok(node)
    }

    fn sequence(&mut self, range: &mut Range<usize>) -> Result<Vec<Node>, SyntaxError> {
        let mut items: Vec<Node> = Vec::new();
        loop {
            let (event, span) = self.expect_next()?;
            if matches!(event, Event::SequenceEnd) {
                range.end = end_of(&span, items.last());
                return Ok(items);
            }
            items.push(self.node(event, &span)?);
        }
    }

    fn mapping(&mut self, range: &mut Range<usize>) -> Result<Vec<Entry>, SyntaxError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        loop {
            let (event, span) = self.expect_next()?;
            if matches!(event, Event::MappingEnd) {
                range.end = end_of(&span, entries.last().map(|entry| &entry.node));
                return Ok(entries);
            }
            let place = Place::start_of(&span);
            let Event::Scalar(key, ..) = event else {
                return Err(SyntaxError { place, message: "expected a name before `:`".to_owned() });
            };
            // A set: a mapping of 100,000 names would take minutes otherwise.
            if !keys.insert(key.clone()) {
                return Err(SyntaxError { place, message: format!("`{key}` is given twice") });
            }
            let (event, value_span) = self.expect_next()?;
            let node = self.node(event, &value_span)?;
            let range = span.byte_range().unwrap_or_default();
            entries.push(Entry { key: key.into_owned(), place, range, node });
        }
    }
}

/// The end of a collection: its bracket, or for a block collection (whose end event has no text) its last value's end.
fn end_of(end: &Span, last: Option<&Node>) -> usize {
    let range = end.byte_range().unwrap_or_default();
    match last {
        Some(last) if range.is_empty() => last.range.end,
        _ => range.end,
    }
}

impl Place {
    fn start_of(span: &Span) -> Self {
        Self { line: span.start.line(), column: span.start.col() + 1 }
    }
}

impl From<ScanError> for SyntaxError {
    fn from(error: ScanError) -> Self {
        let marker = error.marker();
        Self { place: Place { line: marker.line(), column: marker.col() + 1 }, message: error.info() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_collection_ends_with_its_last_value_and_not_at_the_comment_behind_it() {
        let text = "a:\n  b: [1, 2]\n  c: x # why\n# next\nd: 1\n";
        let node = parse(text).unwrap();
        assert_eq!(text.get(node.get("a").unwrap().range.clone()), Some("b: [1, 2]\n  c: x"));
        assert_eq!(node.get("d").unwrap().place, Place { line: 5, column: 4 });
    }

    #[test]
    fn two_documents_and_a_name_given_twice_are_refused_with_their_place() {
        assert_eq!(parse("a: 1\n---\nb: 2\n").unwrap_err().place.line, 3);
        let twice = parse("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert_eq!(
            (twice.place, twice.message.as_str()),
            (Place { line: 3, column: 1 }, "`a` is given twice")
        );
        parse("").unwrap_err();
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

    #[test]
    fn an_alias_is_read_as_what_it_names() {
        let node = parse("a: &x {k: v}\nb: *x\n").unwrap();
        assert_eq!(node.get("b").unwrap().get("k").map(|k| &k.value), Some(&Value::Scalar("v".into(), true)));
    }
}
