//! The filter's configuration as an object holds it, whichever kind of object: to read it, and to put another in its place.

use super::Error;
use assignment::FilterConfig;
use serde_json::Value;

/// In an `EnvoyFilter`: a text. In the mesh's own kinds: a structure.
const TEXT: &str = "/spec/configPatches/0/patch/value/typed_config/config/configuration/value";
const STRUCTURES: [&str; 2] = ["/spec/pluginConfig", "/spec/wasm/pluginConfig"];

/// The configuration that an object of ours holds; `None` for objects that hold none. Fails on one that is not ours.
pub fn held_configuration(object: &Value) -> Result<Option<FilterConfig>, Error> {
    let structure = || STRUCTURES.iter().find_map(|path| object.pointer(path)).map(Value::to_string);
    let text = object.pointer(TEXT).and_then(Value::as_str).map(str::to_owned).or_else(structure);
    let Some(text) = text else { return Ok(None) };
    let config = FilterConfig::from_json(text.as_bytes()).map_err(crate::config::Error::from)?;
    Ok(Some(config))
}

/// The same object with another configuration. An object that holds none stays as it is.
pub fn with_configuration(object: &Value, config: &FilterConfig) -> Result<Value, Error> {
    let json = config.to_json().map_err(crate::config::Error::from)?;
    let mut object = object.clone();
    if let Some(text) = object.pointer_mut(TEXT) {
        *text = json.into();
    } else if let Some(path) = STRUCTURES.iter().find(|path| object.pointer(path).is_some())
        && let Some(structure) = object.pointer_mut(path)
    {
        *structure = serde_json::from_str(&json).unwrap_or_default();
    }
    Ok(object)
}
