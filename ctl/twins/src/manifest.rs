//! Rendered manifests: YAML documents within limits, and objects as YAML again.

use crate::Object;
use crate::scalar;
use placed_yaml::{self as yaml, Entry, Node, Place, SyntaxError};
use serde_json::{Map, Value};

/// The largest manifest, in bytes. Helm keeps a release in one Secret of at most 1 MiB, compressed.
pub const MAX_MANIFEST_BYTES: usize = 8 << 20;
/// The most values of a manifest, those of aliases included. The largest public charts have about 200,000.
const MAX_VALUES: usize = 500_000;

/// The most objects of a manifest. The largest public charts have a few hundred.
const MAX_OBJECTS: usize = 5_000;

/// A manifest that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It is larger than a chart can be.
    #[error("expected at most {MAX_MANIFEST_BYTES} bytes of manifests, found {0}")]
    TooLarge(usize),
    /// It is no YAML, or exceeds a limit of the reader.
    #[error("line {}, column {}: {message}", place.line, place.column)]
    Syntax {
        /// Where.
        place: Place,
        /// The expected and the found text.
        message: String,
        /// A change that the user can make.
        hint: Option<&'static str>,
    },
    /// A document that is no object of Kubernetes.
    #[error("line {}: expected an object with `{field}`, found none", place.line)]
    NoObject {
        /// The beginning of the document.
        place: Place,
        /// The field that is missing.
        field: &'static str,
    },
    /// Two documents describe the same object.
    #[error("line {}: {object} is there twice", place.line)]
    Duplicate {
        /// The beginning of the second one.
        place: Place,
        /// Kind and name.
        object: String,
    },
    /// More objects than a chart can have.
    #[error("line {}: expected at most {MAX_OBJECTS} objects, found more", place.line)]
    TooMany {
        /// The beginning of the first one too many, or of the list that it is in.
        place: Place,
    },
    /// The objects have no YAML form.
    #[error("cannot write the objects as YAML: {0}")]
    Write(String),
}

impl From<SyntaxError> for ManifestError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax { place: error.place, message: error.message, hint: error.hint }
    }
}

impl ManifestError {
    fn syntax(place: Place, message: String, hint: &'static str) -> Self {
        Self::Syntax { place, message, hint: Some(hint) }
    }

    /// A change that the user can make.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Syntax { hint: Some(hint), .. } => Some(hint),
            Self::Syntax { place, .. } if place.line == 1 => Some(
                "a warning of Helm before the first object is no YAML: keep what it prints to stderr out of the file",
            ),
            _ => None,
        }
    }
}

/// Reads the objects of a manifest; empty documents are skipped, and the items of a `List` are objects of their own.
///
/// # Errors
///
/// If the text is larger than [`MAX_MANIFEST_BYTES`], is no YAML, nests too deep or has too many values or objects; if a document is no
/// object with `apiVersion`, `kind` and `metadata.name`; if an object is there twice.
pub fn read_manifest(text: &str) -> Result<Vec<Object>, ManifestError> {
    if text.len() > MAX_MANIFEST_BYTES {
        return Err(ManifestError::TooLarge(text.len()));
    }
    let mut objects = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for document in yaml::manifest_documents(text, MAX_VALUES)? {
        let mut add = |value: Value| -> Result<(), ManifestError> {
            let place = document.place;
            let object = Object::new(value).map_err(|field| ManifestError::NoObject { place, field })?;
            if objects.len() == MAX_OBJECTS {
                return Err(ManifestError::TooMany { place });
            }
            if !seen.insert(object.key("")) {
                return Err(ManifestError::Duplicate { place, object: object.to_string() });
            }
            objects.push(object);
            Ok(())
        };
        match json(&document)? {
            Value::Null => {}
            Value::Object(mut list) if is_list(&list) => match list.remove("items") {
                Some(Value::Array(items)) => items.into_iter().try_for_each(add)?,
                _ => return Err(ManifestError::NoObject { place: document.place, field: "items" }),
            },
            value => add(value)?,
        }
    }
    Ok(objects)
}

/// A `List`, or one of a kind, as `kubectl` reads it: `ConfigMapList`.
fn is_list(object: &Map<String, Value>) -> bool {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    let has_items = object.get("items").is_some_and(Value::is_array) && !has_name(object);
    kind == "List" || (kind.ends_with("List") && has_items)
}

fn has_name(object: &Map<String, Value>) -> bool {
    object.get("metadata").is_some_and(|metadata| metadata.get("name").is_some())
}

/// The objects as YAML documents, every scalar on one line, each text that YAML 1.1 could take for something else quoted.
///
/// # Errors
///
/// If an object has no YAML form.
pub fn write_manifest(objects: &[Object]) -> Result<String, ManifestError> {
    let mut text = String::new();
    for object in objects {
        text.push_str("---\n");
        text.push_str(&yaml::block(object.value()).map_err(ManifestError::Write)?);
    }
    Ok(text)
}

fn json(node: &Node) -> Result<Value, ManifestError> {
    Ok(match &node.value {
        yaml::Value::Scalar(text, true) => scalar::plain(text)
            .map_err(|message| ManifestError::syntax(node.place, message, "quote it if it is a text"))?,
        yaml::Value::Scalar(text, false) => Value::String(text.clone()),
        yaml::Value::Sequence(items) => Value::Array(items.iter().map(json).collect::<Result<_, _>>()?),
        yaml::Value::Mapping(entries) => Value::Object(mapping(entries)?),
    })
}

/// A mapping in the order of the file: of a key that is there twice because `<<` adds it (YAML 1.1, "merge keys"), the later one counts.
fn mapping(entries: &[Entry]) -> Result<Map<String, Value>, ManifestError> {
    let mut map = Map::new();
    for entry in entries {
        if entry.is_plain && entry.key == "<<" {
            merge(entry, &mut map)?;
            continue;
        }
        if entry.is_plain {
            scalar::check_key(&entry.key)
                .map_err(|message| ManifestError::syntax(entry.place, message, "quote the key"))?;
        }
        map.insert(entry.key.clone(), json(&entry.node)?);
    }
    Ok(map)
}

/// Of several mappings behind `<<` the first that has a key counts.
fn merge(entry: &Entry, map: &mut Map<String, Value>) -> Result<(), ManifestError> {
    let merged = match json(&entry.node)? {
        Value::Array(all) => all,
        one => vec![one],
    };
    for value in merged.into_iter().rev() {
        let Value::Object(other) = value else {
            let message = "expected a mapping or a list of mappings behind `<<`, found another value";
            return Err(ManifestError::syntax(entry.place, message.to_owned(), "quote a key that is `<<`"));
        };
        map.extend(other);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config_map(data: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{data}")
    }

    /// Texts that a reader of YAML 1.1 or 1.2 takes for something else where they are not quoted.
    #[rustfmt::skip]
    const HAZARDS: [&str; 43] = [
        "yes", "y", "on", "0644", "0o7", "1e3", "1_000", "0x1F", "~", "null", "", " a", "a: b", "- x",
        "# no", "a\nb\n", "12:30", "2001-01-01", "{{ x }}", "*a", "&a", "!x", "%a", "@a", "`a", "\u{7f}", "é", "<<",
        "=", ".5", "1.", "+1", "-1", "True", "NO", "\t", "'\"\\", "0b1", ".inf", "|", ">", "a #b",
        "---",
    ];

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let data: Map<String, Value> =
            HAZARDS.iter().enumerate().map(|(i, text)| (format!("k{i}"), json!(text))).collect();
        let keys: Map<String, Value> = HAZARDS.iter().map(|key| (format!("x/{key}"), json!("v"))).collect();
        let bare: Map<String, Value> = HAZARDS.iter().map(|key| ((*key).to_owned(), json!("v"))).collect();
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": keys}, "data": data, "keys": bare});
        let objects = vec![Object::new(object).unwrap()];
        let text = write_manifest(&objects).unwrap();
        assert_eq!(read_manifest(&text).unwrap(), objects, "{text}");
    }

    #[test]
    fn a_list_is_its_items_and_empty_documents_are_none() {
        let one = |name: &str| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: {name}}}}}");
        let text = format!(
            "---\n# a comment\n---\napiVersion: v1\nkind: List\nitems: [{}, {}]\n",
            one("a"),
            one("b")
        );
        let names: Vec<_> = read_manifest(&text).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["Secret a", "Secret b"]);
        let typed = text.replace("kind: List", "kind: SecretList");
        assert_eq!(read_manifest(&typed).unwrap().len(), 2, "of one kind");
        let list_of_its_own = text.replace("kind: List", "kind: AllowList\nmetadata: {name: a}");
        assert_eq!(read_manifest(&list_of_its_own).unwrap().len(), 1, "an object of this kind");
    }

    #[test]
    fn a_warning_before_the_first_object_is_named() {
        let text =
            format!("WARNING: Kubernetes configuration file is group-readable: a\n{}", config_map("  a: b"));
        let hint = read_manifest(&text).unwrap_err().hint().unwrap();
        assert!(hint.starts_with("a warning of Helm"), "{hint}");
    }

    #[test]
    fn merge_keys_add_what_is_not_given() {
        let text = config_map("  <<: {b: z, c: w}\n  b: x\n");
        let expected = json!({"b": "x", "c": "w"});
        assert_eq!(read_manifest(&text).unwrap().first().unwrap().value().get("data"), Some(&expected));
    }

    #[test]
    fn what_is_behind_a_merge_key_counts_in_the_order_of_the_file() {
        let data = |text: &str| {
            let text = config_map(&format!("  b: &b {{x: 1}}\n  c: {text}\n"));
            read_manifest(&text).unwrap().first().unwrap().value().pointer("/data/c").cloned().unwrap()
        };
        assert_eq!(data("{x: 9, <<: *b}"), json!({"x": 1}));
        assert_eq!(data("{<<: *b, x: 9}"), json!({"x": 9}));
        assert_eq!(data("{<<: [{x: 3}, *b], z: 1}"), json!({"x": 3, "z": 1}));
        assert_eq!(data("{'<<': *b}"), json!({"<<": {"x": 1}}), "in quotes it is a key");
    }

    #[test]
    fn a_key_that_is_no_text_is_refused_with_a_hint() {
        let error = read_manifest(&config_map("  on: x\n")).unwrap_err();
        let expected = "line 5, column 3: expected a key that is a text, found `on`, which Kubernetes reads as a boolean";
        assert_eq!((error.to_string().as_str(), error.hint()), (expected, Some("quote the key")));
        read_manifest(&config_map("  'on': x\n  8080: x\n  1.28: x\n  true: x\n")).unwrap();
    }

    #[test]
    fn a_hostile_manifest_is_an_error_that_names_the_limit() {
        let levels = (1..20).map(|level| {
            format!("  l{level}: &l{level} [{}]\n", vec![format!("*l{}", level - 1); 9].join(", "))
        });
        let bomb: String = std::iter::once("  l0: &l0 x\n".to_owned()).chain(levels).collect();
        let keys: Vec<String> = (0..600_000).map(|number| format!("  k{number}: 1")).collect();
        let many_keys = keys.join("\n");
        let aliases = vec!["*x"; 30_000].join(",");
        let long_text = format!("  x: &x '{}'\n  y: [{aliases}]\n", "x".repeat(100_000));
        for (text, expected) in [
            (config_map(&bomb), "expected at most 500000 values, those of aliases included, found more"),
            (config_map(&many_keys), "expected at most 500000 values"),
            (
                config_map(&long_text),
                "bytes of what anchors and aliases name (4 times the file and 1 MiB), found more",
            ),
            (
                "x".repeat(MAX_MANIFEST_BYTES + 1),
                "expected at most 8388608 bytes of manifests, found 8388609",
            ),
            (["[".repeat(110), "]".repeat(110)].concat(), "nested at most 100 deep"),
            ("kind: A\nmetadata: {name: a}\n".to_owned(), "expected an object with `apiVersion`"),
            (
                format!("{}\n---\n{}", config_map("  a: b"), config_map("  a: b")),
                "ConfigMap a is there twice",
            ),
            ("a: [".to_owned(), "line "),
        ] {
            let error = read_manifest(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "expected `{expected}`, found `{error}`");
        }
    }
}
