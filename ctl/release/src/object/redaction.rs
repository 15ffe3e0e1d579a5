//! What of a field is shown: a key never, and a module by its digest.

use crate::ModuleDigest;
use crate::object::{MODULE_BYTES, REDACTED};
use serde_json::Value;

/// A configuration that stands in an object as a text, as a structure.
pub(super) fn inner(value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|text| text.starts_with('{'))?;
    serde_json::from_str(text).ok()
}

/// The value at this path as it is shown.
pub(super) fn redacted_at(path: &[&str], value: &Value) -> Value {
    match value {
        _ if is_secret(path) => REDACTED.into(),
        Value::String(bytes) if path.last() == Some(&MODULE_BYTES) => {
            ModuleDigest::display_base64(bytes).into()
        }
        value => redacted(value),
    }
}

/// The places of secrets in a filter's configuration.
fn is_secret(path: &[&str]) -> bool {
    match path {
        [.., "identityKey"] => true,
        [.., "keys", index, "key"] => index.starts_with('['),
        _ => false,
    }
}

/// A value whose secrets, however deep, are not shown; of a module's bytes the digest is.
fn redacted(value: &Value) -> Value {
    match inner(value).as_ref().unwrap_or(value) {
        Value::Object(fields) => {
            let is_ring_key = fields.contains_key("use") && fields.contains_key("id");
            let field = |(name, value): (&String, &Value)| {
                let is_secret = name == "identityKey" || (is_ring_key && name == "key");
                let shown = match value {
                    _ if is_secret => REDACTED.into(),
                    Value::String(bytes) if name == MODULE_BYTES => {
                        ModuleDigest::display_base64(bytes).into()
                    }
                    value => redacted(value),
                };
                (name.clone(), shown)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(redacted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{differences, of_new};
    use crate::object::REDACTED;
    use serde_json::{Value, json};

    #[test]
    fn a_module_is_shown_by_its_digest_wherever_it_stands_in_what_differs() {
        let object = |code: &Value| json!({"spec": {"configPatches": [{"vm_config": {"code": code}}]}});
        let inline = |bytes: &str| object(&json!({"local": {"inline_bytes": bytes}}));
        let file = object(&json!({"local": {"filename": "/filter.wasm"}}));
        let remote = object(&json!({"remote": {"http_uri": {"uri": "oci://r/f:1"}}}));
        let (old, new) = (inline("AGFzbQ=="), inline("AGFzbTE="));
        for (desired, observed) in [(&new, &old), (&new, &file), (&remote, &old), (&new, &remote)] {
            let shown = serde_json::to_string(&differences(desired, observed)).unwrap();
            assert!(shown.contains("sha256:") && !shown.contains("AGFzb"), "{shown}");
        }
        let shown = serde_json::to_string(&of_new(&new)).unwrap();
        assert!(shown.contains("(5 bytes)") && !shown.contains("AGFzb"), "{shown}");
    }

    #[test]
    fn another_key_is_a_difference_whose_sides_are_not_shown() {
        let config = |key: &str| {
            let text = json!({"keys": [{"id": "k1", "key": key, "use": "sign"}], "identityKey": key});
            json!({"spec": {"list": [{"value": text.to_string()}]}})
        };
        let found = differences(&config("aaaa"), &config("bbbb"));
        assert_eq!(found.len(), 2);
        let all = serde_json::to_string(&(found, of_new(&config("aaaa")))).unwrap();
        assert!(!all.contains("aaaa") && !all.contains("bbbb") && all.contains(REDACTED), "{all}");
    }
}
