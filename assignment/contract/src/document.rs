//! The document as a whole, read release by release.
//!
//! Wasm memory never shrinks, so the JSON tree of ten thousand releases would stay allocated in the VM. Each release is
//! therefore converted to its type before the next one is read.

use super::read::{Faults, Place, Read};
use super::{ContractError, FORMAT, FilterConfig, ReleaseConfig};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// A document: the proxy's part with no release in it, and the releases by name.
pub type Document = (FilterConfig, Vec<(String, ReleaseConfig)>);

/// Reads a document; `strict` as in [`FilterConfig::from_json_strict`].
///
/// # Errors
/// On text that is not JSON of this shape, on another major format, and with `strict` on an unknown field.
pub fn read(json: &[u8], strict: bool) -> Result<Document, ContractError> {
    let text = std::str::from_utf8(json).map_err(|_| ContractError::NotText)?;
    let faults = Faults::new(strict);
    let root = Place::root(&faults);
    let (mut proxy, mut releases) = (Map::new(), Vec::new());
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_any(Object(TopLevel { at: &root, proxy: &mut proxy, releases: &mut releases }))?;
    reader.end()?;
    // First, so that a newer format is named as such and not by what is new in it.
    if let Some(found) =
        proxy.get("format").and_then(Value::as_u64).filter(|found| *found != u64::from(FORMAT))
    {
        return Err(ContractError::Format { found });
    }
    let config = FilterConfig::read(&Value::Object(proxy), &root);
    faults.unless_any((config, releases))
}

/// Handles the members of an object that is too large to be kept as a tree.
trait Members {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error>;
    fn place(&self) -> &Place<'_>;
}

struct TopLevel<'a> {
    at: &'a Place<'a>,
    proxy: &'a mut Map<String, Value>,
    releases: &'a mut Vec<(String, ReleaseConfig)>,
}

impl Members for TopLevel<'_> {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        if name == "releases" {
            let at = self.at.field("releases");
            return map.next_value_seed(Object(Releases { at: &at, releases: self.releases }));
        }
        self.proxy.insert(name, map.next_value()?);
        Ok(())
    }

    fn place(&self) -> &Place<'_> {
        self.at
    }
}

struct Releases<'a> {
    at: &'a Place<'a>,
    releases: &'a mut Vec<(String, ReleaseConfig)>,
}

impl Members for Releases<'_> {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        let release = ReleaseConfig::read(&map.next_value()?, &self.at.field(&name));
        self.releases.push((name, release));
        Ok(())
    }

    fn place(&self) -> &Place<'_> {
        self.at
    }
}

/// Walks an object's members. A value of another type is a fault with its place. serde's own message would link the
/// code that prints floating-point numbers.
struct Object<M>(M);

impl<'de, M: Members> DeserializeSeed<'de> for Object<M> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! not_an_object {
    ($($visit:ident($type:ty)),+) => {$(
        fn $visit<E: Error>(self, _: $type) -> Result<(), E> {
            self.0.place().fault("expected an object");
            Ok(())
        }
    )+};
}

impl<'de, M: Members> Visitor<'de> for Object<M> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            self.0.member(name, &mut map)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<Value>()?.is_some() {}
        self.visit_unit()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.visit_bool(false)
    }

    not_an_object!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
}
