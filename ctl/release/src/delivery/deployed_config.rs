//! The filter's configuration as an object contains it, whichever kind of object: to read it, and to replace it.

use super::config_object::{ALL, ConfigField};
use crate::config::Error;
use assignment::FilterConfig;
use serde_json::Value;

/// The filter configuration in one of our objects; `None` for objects without one.
///
/// # Errors
///
/// If the configuration is not one of ours.
pub fn deployed_config(object: &Value) -> Result<Option<FilterConfig>, Error> {
    let json = ALL.iter().find_map(|kind| {
        let config = object.pointer(kind.config.pointer())?;
        match kind.config {
            ConfigField::Text { .. } => config.as_str().map(str::to_owned),
            ConfigField::Structure(_) => Some(config.to_string()),
        }
    });
    Ok(json.map(|json| FilterConfig::from_json(json.as_bytes())).transpose()?)
}

/// The same object with another configuration. An object that contains none stays as it is.
///
/// # Errors
///
/// If the configuration cannot be written as JSON.
pub fn with_deployed_config(object: &Value, config: &FilterConfig) -> Result<Value, Error> {
    let json = config.to_json()?;
    let mut object = object.clone();
    for kind in ALL {
        let Some(field) = object.pointer_mut(kind.config.pointer()) else { continue };
        *field = match kind.config {
            ConfigField::Text { .. } => json.into(),
            ConfigField::Structure(_) => serde_json::from_str(&json).unwrap_or_default(),
        };
        break;
    }
    Ok(object)
}
