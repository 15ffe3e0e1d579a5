//! Takes parts of a template as values, to be repeated for every release, version or host.

use super::Error;
use serde::Serialize;
use serde_json::Value;

/// The first resource of an xDS template. Fails if the text is no such template.
pub(super) fn resource(template: &str) -> Result<Value, Error> {
    let document: Value =
        serde_saphyr::from_str(template).map_err(|error| Error::Prototype(error.to_string()))?;
    part(&document, "/resources/0")
}

/// A part of a value, by JSON pointer.
pub(super) fn part(value: &Value, pointer: &str) -> Result<Value, Error> {
    value.pointer(pointer).cloned().ok_or_else(|| Error::Prototype(pointer.to_owned()))
}

/// Sets an existing field of the prototype. Fails if it is missing: a template and its code have to agree.
pub(super) fn set(value: &mut Value, pointer: &str, to: impl Serialize) -> Result<(), Error> {
    let field = value.pointer_mut(pointer).ok_or_else(|| Error::Prototype(pointer.to_owned()))?;
    *field = serde_json::to_value(to).map_err(|error| Error::Prototype(error.to_string()))?;
    Ok(())
}

/// Adds a field to a mapping of the prototype.
pub(super) fn add(value: &mut Value, pointer: &str, name: &str, field: Value) -> Result<(), Error> {
    let mapping = value.pointer_mut(pointer).and_then(Value::as_object_mut);
    mapping.ok_or_else(|| Error::Prototype(pointer.to_owned()))?.insert(name.to_owned(), field);
    Ok(())
}
