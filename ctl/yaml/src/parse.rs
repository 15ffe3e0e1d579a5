//! From text to a tree of values. The grammar is `granit-parser`'s.

use super::dialect::Dialect;
use super::limits::Limits;
use super::tree::{Entry, Node, Place, Value};
use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span, Tag};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The text is no YAML, or is YAML that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// Where.
    pub place: Place,
    /// The expected and the found value.
    pub message: String,
    /// A hint: what the user can change.
    pub hint: Option<&'static str>,
}

/// Reads a text of one document.
///
/// # Errors
///
/// If the text is not YAML, has no document or more than one, exceeds a limit, or has a tag.
pub fn parse(text: &str) -> Result<Node, SyntaxError> {
    let mut all = documents(text)?;
    // A `---` at the end begins a document without anything in it.
    if all.len() > 1 && all.last().is_some_and(|last| last.kind() == "nothing") {
        all.pop();
    }
    match (all.pop(), all.pop()) {
        (Some(only), None) => Ok(only),
        (Some(second), Some(_)) => Err(SyntaxError::new(
            second.place,
            "expected one document, found another: each needs a file of its own",
        )),
        (None, _) => {
            Err(SyntaxError::new(Place { line: 1, column: 1 }, "expected a document, found an empty file"))
        }
    }
}

/// Reads all documents of a text; an empty list if there are none.
///
/// # Errors
///
/// If the text is not YAML, exceeds a limit, or has a tag.
pub fn documents(text: &str) -> Result<Vec<Node>, SyntaxError> {
    documents_within(text, MAX_VALUES)
}

/// Reads all documents of a text that may have more values than a file that people write.
///
/// # Errors
///
/// If the text is not YAML, has more than `max_values` values, those of aliases included, exceeds another limit, or has a tag.
pub fn documents_within(text: &str, max_values: usize) -> Result<Vec<Node>, SyntaxError> {
    let options = granit_parser::options! { emit_comments: false };
    Reader::new(text, options, max_values, None).documents()
}

/// Reads all documents of a text that Kubernetes reads too.
///
/// # Errors
///
/// As [`documents_within`], and if Kubernetes would read other values or documents.
pub fn manifest_documents(text: &str, max_values: usize) -> Result<Vec<Node>, SyntaxError> {
    let dialect = Dialect::new(text)?;
    let options =
        granit_parser::options! { emit_comments: false, emit_anchor_events: true, disallow_directives: true };
    Reader::new(text, options, max_values, Some(dialect)).documents()
}

/// The most values of a text, what aliases stand for included: a few lines of aliases of aliases would take all memory.
const MAX_VALUES: usize = 100_000;

struct Reader<'t> {
    events: Parser<'t, granit_parser::StrInput<'t>>,
    anchors: HashMap<usize, Node>,
    limits: Limits,
    /// For what Kubernetes reads too.
    dialect: Option<Dialect<'t>>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, options: Options, max_values: usize, dialect: Option<Dialect<'t>>) -> Self {
        let events = Parser::new_from_str_with_options(text, options);
        Self { events, anchors: HashMap::new(), limits: Limits::new(text, max_values), dialect }
    }

    fn documents(mut self) -> Result<Vec<Node>, SyntaxError> {
        let mut documents = Vec::new();
        while let Some((event, _)) = self.pull()? {
            if matches!(event, Event::DocumentStart(..)) {
                let (event, span) = self.next()?;
                documents.push(self.node(event, &span)?);
            }
        }
        Ok(documents)
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), SyntaxError> {
        self.pull()?.ok_or_else(|| SyntaxError::new(Place::default(), "unexpected end"))
    }

    /// The next event that is more than metadata.
    fn pull(&mut self) -> Result<Option<(Event<'t>, Span)>, SyntaxError> {
        while let Some((event, span)) = self.events.next_event().transpose()? {
            if let Some(dialect) = &mut self.dialect {
                dialect.check(&event, &span)?;
            }
            if !matches!(event, Event::Anchor(..)) {
                return Ok(Some((event, span)));
            }
        }
        Ok(None)
    }

    fn node(&mut self, event: Event<'t>, span: &Span) -> Result<Node, SyntaxError> {
        let place = Place::start_of(span);
        self.limits.open(place)?;
        let node = self.value(event, span, place);
        self.limits.close();
        node
    }

    fn value(&mut self, event: Event<'t>, span: &Span, place: Place) -> Result<Node, SyntaxError> {
        let range = span.byte_range().unwrap_or_default();
        if let Event::Alias(anchor) = event {
            let target = self.anchors.get(&anchor).ok_or_else(|| {
                SyntaxError::new(place, "expected an alias of a value, found one of the value that it is in")
            })?;
            self.limits.copy(target, place)?;
            return Ok(Node { place, range, ..target.clone() });
        }
        check_tag(event.tag(), place)?;
        let mut node = Node { place, range, value: Value::Sequence(Vec::new()) };
        let anchor = event.anchor_id().unwrap_or_default();
        node.value = match event {
            Event::Scalar(text, style, ..) => Value::Scalar(text.into_owned(), style == ScalarStyle::Plain),
            Event::SequenceStart(..) => Value::Sequence(self.sequence(&mut node.range)?),
            Event::MappingStart(..) => Value::Mapping(self.mapping(&mut node.range)?),
            _ => return Err(SyntaxError::new(place, "expected a value")),
        };
        self.keep(anchor, &node)?;
        Ok(node)
    }

    /// Keeps what aliases will stand for; the anchor 0 is none.
    fn keep(&mut self, anchor: usize, node: &Node) -> Result<(), SyntaxError> {
        if anchor != 0 {
            self.limits.copy(node, node.place)?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(())
    }

    fn sequence(&mut self, range: &mut Range<usize>) -> Result<Vec<Node>, SyntaxError> {
        let mut items: Vec<Node> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                range.end = end_of(&span, items.last());
                return Ok(items);
            }
            items.push(self.node(event, &span)?);
        }
    }

    fn mapping(&mut self, range: &mut Range<usize>) -> Result<Vec<Entry>, SyntaxError> {
        let mut entries: Vec<Entry> = Vec::new();
        // A set: a mapping of 100,000 names would take minutes otherwise.
        let mut keys = HashSet::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                range.end = end_of(&span, entries.last().map(|entry| &entry.node));
                return Ok(entries);
            }
            let (key, place, is_plain) = self.key(event, &span)?;
            if !keys.insert(key.clone()) {
                return Err(SyntaxError::new(place, format!("`{key}` is given twice")));
            }
            let (event, value_span) = self.next()?;
            let is_alias = matches!(event, Event::Alias(_));
            let node = self.node(event, &value_span)?;
            if is_plain && is_alias && key == "<<" && !matches!(node.value, Value::Mapping(_)) {
                let message = format!("expected an alias of a mapping behind `<<`, found {}", node.kind());
                return Err(SyntaxError::new(node.place, message));
            }
            let range = span.byte_range().unwrap_or_default();
            entries.push(Entry { key, is_plain, place, range, node });
        }
    }

    /// A key, where it begins, and whether it stood there without quotes.
    fn key(&mut self, event: Event<'t>, span: &Span) -> Result<(String, Place, bool), SyntaxError> {
        let place = Place::start_of(span);
        let Event::Scalar(text, style, anchor, tag) = event else {
            let message = "expected a name before `:`, found an alias, a list or a mapping";
            return Err(SyntaxError::new(place, message));
        };
        check_tag(tag.as_deref(), place)?;
        self.dialect.as_ref().map_or(Ok(()), |dialect| dialect.check_key(span))?;
        let (key, is_plain) = (text.into_owned(), style == ScalarStyle::Plain);
        if anchor != 0 {
            let value = Value::Scalar(key.clone(), is_plain);
            self.keep(anchor, &Node { place, range: span.byte_range().unwrap_or_default(), value })?;
        }
        Ok((key, place, is_plain))
    }
}

/// Refuses a tag (YAML 1.1, "Tags"): no file needs one, and each reader takes it for something else.
fn check_tag(tag: Option<&Tag>, place: Place) -> Result<(), SyntaxError> {
    let Some(tag) = tag else { return Ok(()) };
    let message = format!("expected a value without a tag, found the tag `{}`", tag.original());
    let hint = Some("remove the tag, and quote the value if it is a text");
    Err(SyntaxError { hint, ..SyntaxError::new(place, message) })
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
    pub(super) fn start_of(span: &Span) -> Self {
        Self { line: span.start.line(), column: span.start.col() + 1 }
    }
}

impl SyntaxError {
    pub(super) fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), hint: None }
    }
}

impl From<ScanError> for SyntaxError {
    fn from(error: ScanError) -> Self {
        let marker = error.marker();
        let place = Place { line: marker.line(), column: marker.col() + 1 };
        if *error.kind() == ErrorKind::DirectiveDisallowed {
            let hint = Some("remove the line that begins with `%`");
            return Self { hint, ..Self::new(place, "expected no directive: Kubernetes reads none") };
        }
        let message = error.info();
        if message.contains("simple key expect") {
            return Self::new(place, "expected `name: value`, found a name without a colon");
        }
        // The grammar's words are about collections and indicators.
        let is_indentation = message.contains("block collection") || message.contains("block mapping");
        let hint = is_indentation.then_some("is this line indented as those of the same list or object are?");
        Self { hint, ..Self::new(place, message) }
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
        for end in ["---\n", "...\n", "---\n# the end\n"] {
            parse(&format!("a: 1\n{end}")).unwrap_or_else(|error| panic!("{end}: {error:?}"));
        }
        let twice = parse("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert_eq!(
            (twice.place, twice.message.as_str()),
            (Place { line: 3, column: 1 }, "`a` is given twice")
        );
        parse("").unwrap_err();
    }

    #[test]
    fn an_alias_is_read_as_what_it_names() {
        let node = parse("a: &x {k: v}\nb: *x\n&y c: *y\n").unwrap();
        assert_eq!(node.get("b").unwrap().get("k").map(|k| &k.value), Some(&Value::Scalar("v".into(), true)));
        assert_eq!(node.get("c").map(|c| &c.value), Some(&Value::Scalar("c".into(), true)), "of a key");
    }

    #[test]
    fn an_alias_within_what_it_names_is_refused() {
        let error = parse("a: &x 1\nb: &x [*x]\n").unwrap_err();
        assert_eq!(error.place, Place { line: 2, column: 8 });
        assert!(error.message.starts_with("expected an alias of a value"), "{error}");
    }

    #[test]
    fn many_lines_of_comments_before_a_value_are_no_fault() {
        let text = format!("a:\n{}  - b\n", "  # a comment\n".repeat(500));
        parse(&text).unwrap();
    }

    #[test]
    fn a_tag_is_refused_with_its_name_and_a_hint() {
        for (text, tag, column) in
            [("a: !!str 0644\n", "!!str", 10), ("a: ! [b]\n", "!", 6), ("!x a: 1\n", "!x", 4)]
        {
            let error = parse(text).unwrap_err();
            assert_eq!(error.message, format!("expected a value without a tag, found the tag `{tag}`"));
            assert_eq!(error.place, Place { line: 1, column });
            assert_eq!(error.hint, Some("remove the tag, and quote the value if it is a text"));
        }
    }
}
