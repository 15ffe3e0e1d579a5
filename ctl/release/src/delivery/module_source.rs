//! The module that proxies run, as an object names it, whichever kind of object: to read it, and to put another in its place.

use super::config_object::ALL;
use super::module_contents::ModuleContents;
use crate::object::MODULE_BYTES;
use crate::{EmbeddedModule, ModuleDigest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Parent and field of every kind.
fn fields() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().flat_map(|kind| kind.module_fields.iter().map(|field| (kind.module, *field)))
}

/// The source of the module for proxies, with its sum if one is given. An embedded module is named by its digest, so that no
/// record contains its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModuleSource(BTreeMap<String, Value>);

/// The bytes of an embedded module are not where they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the bytes of module {0}, found them in no object of the release")]
pub struct MissingModule(pub ModuleDigest);

impl ModuleSource {
    /// The module that one of our objects names; `None` for objects that name none.
    pub fn of(object: &Value) -> Option<Self> {
        let field = |(parent, name): (&str, &str)| {
            Some((format!("{parent}/{name}"), without_bytes(object.pointer(parent)?.get(name)?)))
        };
        let fields: BTreeMap<_, _> = fields().filter_map(field).collect();
        (!fields.is_empty()).then_some(Self(fields))
    }

    /// The same object with this module. An object that names none stays as it is.
    ///
    /// # Errors
    ///
    /// If the module is an embedded one, and its bytes are not in `contents`.
    pub fn put_into(&self, object: &Value, contents: &ModuleContents) -> Result<Value, MissingModule> {
        let mut object = object.clone();
        for (parent, name) in fields() {
            let Some(parts) = object.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
            match self.0.get(&format!("{parent}/{name}")) {
                Some(value) => drop(parts.insert(name.to_owned(), with_bytes(value, contents)?)),
                None => drop(parts.remove(name)),
            }
        }
        Ok(object)
    }

    /// The digest of an embedded module.
    pub fn embedded(&self) -> Option<ModuleDigest> {
        self.0.values().find_map(digest)
    }
}

/// A field of a module with the digest of its bytes in their place.
fn without_bytes(field: &Value) -> Value {
    let mut field = field.clone();
    if let Some(bytes) = field.get_mut("local").and_then(|local| local.get_mut(MODULE_BYTES))
        && let Some(module) = bytes.as_str().and_then(EmbeddedModule::from_base64)
    {
        *bytes = serde_json::to_value(module.digest()).unwrap_or_default();
    }
    field
}

/// The reverse.
fn with_bytes(field: &Value, contents: &ModuleContents) -> Result<Value, MissingModule> {
    let Some(digest) = digest(field) else { return Ok(field.clone()) };
    let module = contents.get(&digest.sha256).ok_or(MissingModule(digest))?;
    let mut field = field.clone();
    if let Some(bytes) = field.get_mut("local").and_then(|local| local.get_mut(MODULE_BYTES)) {
        *bytes = module.base64().into();
    }
    Ok(field)
}

fn digest(field: &Value) -> Option<ModuleDigest> {
    serde_json::from_value(field.get("local")?.get(MODULE_BYTES)?.clone()).ok()
}

/// Its address; of an embedded module, its digest.
impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(digest) = self.embedded() {
            return digest.fmt(f);
        }
        let is_address = |(field, _): &(&String, &Value)| !field.ends_with("/sha256");
        let address = self.0.iter().filter(is_address).find_map(|(_, value)| {
            let named = value.pointer("/remote/http_uri/uri").or_else(|| value.pointer("/local/filename"));
            named.unwrap_or(value).as_str()
        });
        f.write_str(address.unwrap_or("a module"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn envoy_filter(code: &Value) -> Value {
        let config = json!({"vm_config": {"code": code}, "fail_open": true});
        json!({"spec": {"configPatches": [{"patch": {"value": {"typed_config": {"config": config}}}}]}})
    }

    #[test]
    fn a_module_is_put_back_with_the_sum_that_it_had_or_without_one() {
        let local = envoy_filter(&json!({"local": {"filename": "/filter.wasm"}}));
        let remote = envoy_filter(&json!({"remote": {"http_uri": {"uri": "oci://r/f:2"}, "sha256": "aa"}}));
        let plain = json!({"spec": {"url": "oci://r/f:1", "pluginConfig": {}}});
        let summed = json!({"spec": {"url": "oci://r/f:2", "sha256": "aa", "pluginConfig": {}}});
        let contents = ModuleContents::default();
        for (one, other) in [(&local, &remote), (&plain, &summed)] {
            let (first, second) = (ModuleSource::of(one).unwrap(), ModuleSource::of(other).unwrap());
            assert_eq!(&second.put_into(one, &contents).unwrap(), other);
            assert_eq!(&first.put_into(other, &contents).unwrap(), one);
            assert_eq!(second.to_string(), "oci://r/f:2");
        }
        assert_eq!(ModuleSource::of(&local).unwrap().to_string(), "/filter.wasm");
    }

    #[test]
    fn an_embedded_module_is_recorded_by_its_digest_and_written_with_the_bytes_of_an_object() {
        let module = EmbeddedModule::new(b"\0asm old").unwrap();
        let inline = envoy_filter(&json!({"local": {"inline_bytes": module.base64()}}));
        let source = ModuleSource::of(&inline).unwrap();
        let recorded = serde_json::to_string(&source).unwrap();
        assert!(
            recorded.contains(&module.digest().sha256) && !recorded.contains(module.base64()),
            "{recorded}"
        );
        assert_eq!(source.to_string(), module.digest().to_string());
        assert_eq!(serde_json::from_str::<ModuleSource>(&recorded).unwrap(), source);

        let file = envoy_filter(&json!({"local": {"filename": "/filter.wasm"}}));
        let missing = source.put_into(&file, &ModuleContents::default());
        assert_eq!(missing, Err(MissingModule(module.digest().clone())));
        assert_eq!(source.put_into(&file, &ModuleContents::of([&inline])), Ok(inline));
    }

    #[test]
    fn an_object_without_a_module_names_none() {
        assert_eq!(ModuleSource::of(&json!({"spec": {"hosts": ["shop.example.com"]}})), None);
    }
}
