//! The module that proxies run, as an object names it, whichever kind of object: to read it, and to put another in its place.

use super::config_object::ALL;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Parent and field of every kind.
fn fields() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().flat_map(|kind| kind.module_fields.iter().map(|field| (kind.module, *field)))
}

/// Where proxies get the module from, with its sum where one is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModuleSource(BTreeMap<String, Value>);

impl ModuleSource {
    /// The module that one of our objects names; `None` for objects that name none.
    pub fn of(object: &Value) -> Option<Self> {
        let field = |(parent, name): (&str, &str)| {
            Some((format!("{parent}/{name}"), object.pointer(parent)?.get(name)?.clone()))
        };
        let fields: BTreeMap<_, _> = fields().filter_map(field).collect();
        (!fields.is_empty()).then_some(Self(fields))
    }

    /// The same object with this module. An object that names none stays as it is.
    pub fn put_into(&self, object: &Value) -> Value {
        let mut object = object.clone();
        for (parent, name) in fields() {
            let Some(parts) = object.pointer_mut(parent).and_then(Value::as_object_mut) else { continue };
            match self.0.get(&format!("{parent}/{name}")) {
                Some(value) => drop(parts.insert(name.to_owned(), value.clone())),
                None => drop(parts.remove(name)),
            }
        }
        object
    }
}

/// Its address.
impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        for (one, other) in [(&local, &remote), (&plain, &summed)] {
            let (first, second) = (ModuleSource::of(one).unwrap(), ModuleSource::of(other).unwrap());
            assert_eq!(&second.put_into(one), other);
            assert_eq!(&first.put_into(other), one);
            assert_eq!(second.to_string(), "oci://r/f:2");
        }
        assert_eq!(ModuleSource::of(&local).unwrap().to_string(), "/filter.wasm");
    }

    #[test]
    fn an_object_without_a_module_names_none() {
        assert_eq!(ModuleSource::of(&json!({"spec": {"hosts": ["shop.example.com"]}})), None);
    }
}
