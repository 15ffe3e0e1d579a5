//! Manifests of this crate's `manifests/`, as values that a test changes before it applies them.

use std::path::PathBuf;

use serde_json::Value;

use super::error::LabError;
use programs::artifact;

/// Some objects, in the order of their file.
#[derive(Clone, Debug)]
pub struct Objects(Vec<Value>);

impl Objects {
    /// The objects of `manifests/<name>.yaml` of this crate, in this namespace.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is no YAML.
    pub fn read(name: &str, namespace: &str) -> Result<Self, LabError> {
        let mut objects = documents(&folder().join(format!("{name}.yaml")))?;
        let metadata =
            objects.iter_mut().filter_map(|object| object.pointer_mut("/metadata")?.as_object_mut());
        metadata.for_each(|metadata| drop(metadata.insert("namespace".to_owned(), namespace.into())));
        Ok(Self(objects))
    }

    /// Replaces this text, by its JSON pointer, in every object that has it.
    pub fn replace(&mut self, pointer: &str, text: &str) {
        for found in self.0.iter_mut().filter_map(|object| object.pointer_mut(pointer)) {
            *found = text.into();
        }
    }

    /// A text for `kubectl`.
    pub fn text(&self) -> String {
        // JSON is YAML.
        let documents: Vec<String> = self.0.iter().map(|object| format!("---\n{object}\n")).collect();
        documents.concat()
    }
}

fn folder() -> PathBuf {
    artifact::root().join("wasm-tests/lab/manifests")
}

/// The documents of a YAML file.
///
/// # Errors
///
/// The file cannot be read or is no YAML.
pub fn documents(path: &PathBuf) -> Result<Vec<Value>, LabError> {
    let text = std::fs::read_to_string(path).map_err(LabError::system(format!("read {}", path.display())))?;
    parse(&text)
}

/// The documents of a YAML text, without empty ones; the items of a `List` in its place.
///
/// # Errors
///
/// The text is no YAML.
pub fn parse(text: &str) -> Result<Vec<Value>, LabError> {
    let documents: Result<Vec<Value>, _> = serde_saphyr::from_multiple(text);
    let mut documents = documents.map_err(|error| LabError::Unexpected {
        what: "manifest",
        expected: "YAML",
        found: format!("{error} in {text:.200}"),
    })?;
    documents.retain(|document| !document.is_null());
    let items = |mut document: Value| match document.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => vec![document],
    };
    Ok(documents.into_iter().flat_map(items).collect())
}
