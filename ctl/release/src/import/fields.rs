//! Every field of a kind with its handling: one table a kind, which a test compares with the schemas of the peers.

use super::difference::{Differences, Fate, Importance, SourceOrigin};
use super::source::SourceObject;
use placed_yaml::{Entry, Node, Value};

/// The handling of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handling {
    /// The release has it, or an object that is to be applied.
    Carried,
    /// It has no purpose any more, and is not missed.
    Irrelevant,
    /// Carried with another meaning: what differs, what to do.
    Differs(Importance, &'static str, &'static str),
    /// Not carried: what is lost, what to do.
    Lost(Importance, &'static str, &'static str),
    /// The deprecated name of another field, whose fields it has.
    Deprecated(&'static str),
}

/// Fields of one handling, by their paths in the schema: `[]` for the items of a list, `*` for a name of the user's, `**` at the end for
/// all below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldRule {
    /// The paths, with white space between them.
    fields: &'static str,
    /// Their handling.
    handling: Handling,
}

pub(super) const fn carried(fields: &'static str) -> FieldRule {
    FieldRule { fields, handling: Handling::Carried }
}

pub(super) const fn irrelevant(fields: &'static str) -> FieldRule {
    FieldRule { fields, handling: Handling::Irrelevant }
}

pub(super) const fn differs(
    fields: &'static str,
    importance: Importance,
    what: &'static str,
    action: &'static str,
) -> FieldRule {
    FieldRule { fields, handling: Handling::Differs(importance, what, action) }
}

pub(super) const fn lost(
    fields: &'static str,
    importance: Importance,
    what: &'static str,
    action: &'static str,
) -> FieldRule {
    FieldRule { fields, handling: Handling::Lost(importance, what, action) }
}

pub(super) const fn deprecated(fields: &'static str, name: &'static str) -> FieldRule {
    FieldRule { fields, handling: Handling::Deprecated(name) }
}

impl FieldRule {
    /// The paths of its fields.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.fields.split_whitespace()
    }
}

/// True if a path of a rule is that of a field in the schema, or of what it is in.
pub fn covers(rule: &str, field: &str) -> bool {
    match rule.strip_suffix(".**") {
        Some(root) => field.strip_prefix(root).is_some_and(is_below),
        None => rule == field,
    }
}

fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}

/// Notes what the table says of each field that an object sets, and each field that the table does not know.
pub(super) fn check(object: &SourceObject, table: &[FieldRule], differences: &mut Differences) {
    const OF_EVERY_OBJECT: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];
    let mut walk = Walk { table, differences };
    for entry in object.node.entries().iter().filter(|entry| !OF_EVERY_OBJECT.contains(&entry.key.as_str())) {
        walk.entry(entry, "", &object.origin(""));
    }
}

struct Walk<'w> {
    table: &'w [FieldRule],
    differences: &'w mut Differences,
}

impl Walk<'_> {
    fn entry(&mut self, entry: &Entry, schema: &str, origin: &SourceOrigin) {
        let join =
            |path: &str, name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let field = origin.at(join(&origin.field, &entry.key), entry.place);
        let path = join(schema, &entry.key);
        let rule = self.rule(&path).map(|rule| (rule, path)).or_else(|| {
            let path = join(schema, "*");
            self.rule_below(&path).map(|rule| (rule, path))
        });
        let Some(((rule, handling), path)) = rule else {
            self.differences.note(
                &field,
                (Importance::Guard, Fate::Unknown),
                format!("`{}` is a field that the importer does not know", entry.key),
                "find out if users depend on it",
            );
            return;
        };
        if !entry.node.is_off() {
            self.note(handling, &field);
        }
        match handling {
            Handling::Deprecated(name) => self.within(&entry.node, name, &field),
            _ if rule.ends_with(".**") => {}
            _ => self.within(&entry.node, &path, &field),
        }
    }

    fn within(&mut self, node: &Node, schema: &str, origin: &SourceOrigin) {
        match &node.value {
            Value::Scalar(..) => {}
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    let origin = origin.at(format!("{}[{index}]", origin.field), item.place);
                    self.within(item, &format!("{schema}[]"), &origin);
                }
            }
            Value::Mapping(entries) => entries.iter().for_each(|entry| self.entry(entry, schema, origin)),
        }
    }

    fn rules(&self) -> impl Iterator<Item = (&'static str, Handling)> {
        self.table.iter().flat_map(|rule| rule.paths().map(|path| (path, rule.handling)))
    }

    fn rule(&self, path: &str) -> Option<(&'static str, Handling)> {
        self.rules().find(|(rule, _)| covers(rule, path))
    }

    /// A rule for names that are the user's, or for what is below them.
    fn rule_below(&self, path: &str) -> Option<(&'static str, Handling)> {
        let is_inner = |(rule, _): &(&str, _)| rule.strip_prefix(path).is_some_and(is_below);
        self.rule(path).or_else(|| self.rules().find(is_inner).map(|_| ("", Handling::Carried)))
    }

    fn note(&mut self, handling: Handling, origin: &SourceOrigin) {
        let (fate, importance, what, action) = match handling {
            Handling::Carried | Handling::Irrelevant => return,
            Handling::Differs(importance, what, action) => (Fate::Differs, importance, what, action),
            Handling::Lost(importance, what, action) => (Fate::Lost, importance, what, action),
            Handling::Deprecated(_) => {
                (Fate::Differs, Importance::Cosmetic, "a deprecated name", "rename it in the source")
            }
        };
        self.differences.note(origin, (importance, fate), what, action);
    }
}
