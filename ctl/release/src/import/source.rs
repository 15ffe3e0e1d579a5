//! The objects of the sources, each with its places.

use super::difference::SourceOrigin;
use super::{Error, SourceText};
use placed_yaml::{self as yaml, Node, Value};

#[derive(Clone, Debug)]
pub(super) struct SourceObject {
    file: String,
    has_lines: bool,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) node: Node,
}

/// All objects of all sources, those of lists too.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources(Vec<SourceObject>);

impl Sources {
    pub(super) fn read(texts: &[SourceText<'_>]) -> Result<Self, Error> {
        let mut objects = Vec::new();
        for source in texts {
            let syntax = |error| Error::Syntax { file: source.name.to_owned(), error };
            for node in yaml::documents(source.text).map_err(syntax)? {
                collect(source, node, &mut objects);
            }
        }
        Ok(Self(objects))
    }

    /// The only object of a kind, or the one of that name and namespace.
    pub(super) fn only(
        &self,
        kind: &'static str,
        name: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<&SourceObject, Error> {
        let fits = |object: &&SourceObject| {
            object.kind == kind
                && name.is_none_or(|name| object.name == name)
                && namespace.is_none_or(|wanted| object.namespace.as_deref().is_none_or(|own| own == wanted))
        };
        let of_kind: Vec<&SourceObject> = self.0.iter().filter(|object| object.kind == kind).collect();
        let found: Vec<&SourceObject> = self.0.iter().filter(fits).collect();
        match (found.as_slice(), of_kind.is_empty()) {
            ([only], _) => Ok(*only),
            ([], true) => Err(Error::None { kind }),
            _ => {
                let names = of_kind.iter().map(|object| object.title());
                Err(Error::Several { kind, found: names.collect::<Vec<_>>().join(", ") })
            }
        }
    }

    /// An object that another one names; one without a namespace is in that of whoever names it.
    pub(super) fn find(&self, kinds: &[&str], name: &str, namespace: &str) -> Option<&SourceObject> {
        self.0.iter().find(|object| {
            kinds.contains(&object.kind.as_str())
                && object.name == name
                && object.namespace.as_deref().is_none_or(|own| own == namespace)
        })
    }

    pub(super) fn of_kind<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s SourceObject> {
        self.0.iter().filter(move |object| object.kind == kind)
    }
}

fn collect(source: &SourceText<'_>, node: Node, objects: &mut Vec<SourceObject>) {
    let kind = node.text("kind").unwrap_or_default().to_owned();
    if kind.ends_with("List")
        && let Some(items) = node.get("items")
    {
        items.items().iter().for_each(|item| collect(source, item.clone(), objects));
        return;
    }
    let metadata = |field: &str| Some(node.get("metadata")?.text(field)?.to_owned());
    objects.push(SourceObject {
        file: source.name.to_owned(),
        has_lines: source.has_lines,
        kind,
        name: metadata("name").unwrap_or_default(),
        namespace: metadata("namespace"),
        node,
    });
}

impl SourceObject {
    /// `Canary shop/web`.
    pub(super) fn title(&self) -> String {
        let namespace = self.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
        format!("{} {namespace}{}", self.kind, self.name)
    }

    /// The place of a field by its path with names and indices: `spec.analysis.metrics[0].name`; of the nearest field above it where it is not there.
    pub(super) fn origin(&self, path: &str) -> SourceOrigin {
        let (mut node, mut place) = (&self.node, self.node.place);
        for part in path.split(['.', '[', ']']).filter(|part| !part.is_empty()) {
            let next = match (&node.value, part.parse::<usize>()) {
                (Value::Sequence(items), Ok(index)) => items.get(index).map(|item| (item.place, item)),
                _ => node.entry(part).map(|entry| (entry.place, &entry.node)),
            };
            let Some((found, inner)) = next else { break };
            (place, node) = (found, inner);
        }
        let line = self.has_lines.then_some(place.line);
        SourceOrigin { file: self.file.clone(), line, object: self.title(), field: path.to_owned() }
    }

    /// The node at a path of names between dots.
    pub(super) fn get(&self, path: &str) -> Option<&Node> {
        self.node.at(path)
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.get(path)?.as_text()
    }
}
