//! The bytes of the modules that a plan writes. A [`ModuleSource`](super::ModuleSource) names an embedded module by its digest;
//! the bytes are in the objects of the cluster and in the desired ones.

use super::config_object::ALL;
use crate::EmbeddedModule;
use crate::object::MODULE_BYTES;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The file name of a module in a ConfigMap ends so.
const WASM: &str = ".wasm";

/// Embedded modules by their SHA-256.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleContents(BTreeMap<String, EmbeddedModule>);

impl ModuleContents {
    /// The modules that these objects contain: our configurations, and each `ConfigMap` of a module rollout.
    pub fn of<'o>(objects: impl IntoIterator<Item = &'o Value>) -> Self {
        let texts = objects.into_iter().flat_map(|object| inline(object).into_iter().chain(kept(object)));
        Self(texts.filter_map(EmbeddedModule::from_base64).map(by_sha256).collect())
    }

    /// The modules of both.
    #[must_use]
    pub fn with(mut self, others: &Self) -> Self {
        self.0.extend(others.0.clone());
        self
    }

    pub(crate) fn get(&self, sha256: &str) -> Option<&EmbeddedModule> {
        self.0.get(sha256)
    }

    /// Those of these SHA-256, as the `binaryData` of a ConfigMap; empty if there are none.
    pub(crate) fn binary_data<'s>(&self, wanted: impl IntoIterator<Item = &'s str>) -> Map<String, Value> {
        let named = |sha256: &str| Some((format!("{sha256}{WASM}"), self.get(sha256)?.base64().into()));
        wanted.into_iter().filter_map(named).collect()
    }
}

fn by_sha256(module: EmbeddedModule) -> (String, EmbeddedModule) {
    (module.digest().sha256.clone(), module)
}

/// The module in a configuration object.
fn inline(object: &Value) -> Option<&str> {
    let code = ALL.iter().find_map(|kind| object.pointer(kind.module)?.get("code"))?;
    code.pointer("/local")?.get(MODULE_BYTES)?.as_str()
}

/// The modules in a ConfigMap.
fn kept(object: &Value) -> impl Iterator<Item = &str> {
    let data = object.get("binaryData").and_then(Value::as_object);
    data.into_iter().flatten().filter(|(name, _)| name.ends_with(WASM)).filter_map(|(_, text)| text.as_str())
}
