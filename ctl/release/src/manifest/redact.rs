//! Configurations for display: keys are named, never shown.

use crate::object::REDACTED;
use assignment::FilterConfig;
use serde_json::Value;

/// The filter's configuration as JSON without its secrets.
pub fn redacted(config: &FilterConfig) -> String {
    let mut json = serde_json::to_value(config).unwrap_or_default();
    let keys = json.get_mut("keys").and_then(Value::as_array_mut).into_iter().flatten();
    for key in keys.filter_map(|key| key.get_mut("key")) {
        *key = REDACTED.into();
    }
    if let Some(key) = json.get_mut("identityKey") {
        *key = REDACTED.into();
    }
    json.to_string()
}
