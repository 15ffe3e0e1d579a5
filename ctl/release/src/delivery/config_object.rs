//! The object that contains the filter's configuration, for each mode.

use super::{envoy_filter, traffic_extension, wasm_plugin};
use crate::object::{Reference, Stage};
use crate::spec::{Mode, Module, Selector};
use assignment::contract::Position;
use placed_yaml::EditError;
use serde_json::{Value, json};

/// Every kind that contains a configuration.
pub(super) const ALL: [&ConfigObject; 3] =
    [&envoy_filter::OBJECT, &wasm_plugin::OBJECT, &traffic_extension::OBJECT];

/// A kind of object that contains the filter's configuration, and where it contains what.
#[derive(Debug)]
pub(crate) struct ConfigObject {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    /// The configuration.
    pub(super) config: ConfigField,
    /// The object of which the fields below name the module, as a JSON pointer.
    pub(super) module: &'static str,
    /// The fields that name the module: its address first, then its sum where that is a field of its own.
    pub(super) module_fields: &'static [&'static str],
    /// Whether it inserts the filter by Istio's plugin API: without an `EnvoyFilter` for that, and without a default while the
    /// module is missing.
    pub(crate) is_plugin: bool,
    /// Fills in its template.
    pub(crate) document: fn(&ConfigDocument<'_>) -> Result<String, EditError>,
}

/// The objects beside a configuration, which its proxies need for any release: V8, and the place of the filter. `*-config` has `*-runtime` and
/// `*-filter` beside it.
pub fn beside_config(configuration: &Reference) -> [(Stage, Reference); 2] {
    let pods = configuration.name.strip_suffix("-config").unwrap_or(&configuration.name);
    [(Stage::Runtime, "runtime"), (Stage::Filter, "filter")].map(|(stage, what)| {
        let ConfigObject { api_version, kind, .. } = envoy_filter::OBJECT;
        let name = format!("{pods}-{what}");
        (stage, Reference::new(api_version, kind, &configuration.namespace, &name))
    })
}

/// The field of a configuration, as a JSON pointer.
#[derive(Debug)]
pub(super) enum ConfigField {
    /// A JSON text. Server-side apply gives the list around it to one field manager.
    Text {
        /// The text.
        config: &'static str,
        list: &'static str,
    },
    /// A structure, in which each release can have its own field manager.
    Structure(&'static str),
}

/// The values of a template.
pub(crate) struct ConfigDocument<'d> {
    /// The name of the object.
    pub(crate) name: String,
    /// The proxies.
    pub(crate) pods: &'d Selector,
    /// The position of the proxies.
    pub(crate) position: Position,
    /// The name of the configuration within the proxy.
    pub(crate) resource_name: String,
    /// The address of the module.
    pub(crate) module: &'d Module,
    /// The bytes of an embedded module, in base64; what stands for them in an object that is only shown.
    pub(crate) inline_bytes: &'d str,
    /// The sum of the module: 64 hexadecimal digits.
    pub(crate) sha256: Option<&'d str>,
    /// The configuration, as JSON.
    pub(crate) config: &'d str,
}

impl Mode {
    /// The object that contains the configuration in this mode. The local target reads the same one from a file.
    pub(crate) const fn config_object(self) -> &'static ConfigObject {
        match self {
            Self::EnvoyFilter | Self::Local => &envoy_filter::OBJECT,
            Self::WasmPlugin => &wasm_plugin::OBJECT,
            Self::TrafficExtension => &traffic_extension::OBJECT,
        }
    }
}

impl ConfigField {
    /// The JSON pointer of the configuration.
    pub(super) const fn pointer(&self) -> &'static str {
        match self {
            Self::Text { config, .. } | Self::Structure(config) => config,
        }
    }
}

/// API version and kind of the objects that can contain a configuration.
pub fn config_kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.iter().map(|object| (object.api_version, object.kind))
}

/// Whether a configuration object of this kind belongs to one field manager as a whole.
pub(crate) fn has_one_owner(kind: &str) -> bool {
    let object = ALL.iter().find(|object| object.kind == kind);
    object.is_some_and(|object| matches!(object.config, ConfigField::Text { .. }))
}

/// The part of an object's configuration that is written for one release: all of a list that has one field manager, else the
/// release's own entry.
pub(crate) fn owned_config(object: &Value, release: &str) -> Value {
    let parts = ALL.iter().find_map(|kind| match kind.config {
        ConfigField::Text { list, .. } => Some(nested(list, object.pointer(list)?.clone())),
        ConfigField::Structure(config) => {
            let entry = object.pointer(config)?.get("releases")?.get(release)?;
            Some(nested(config, json!({"releases": {release: entry}})))
        }
    });
    parts.unwrap_or_else(|| json!({}))
}

/// An object that has this value at a JSON pointer, and nothing else.
fn nested(pointer: &str, value: Value) -> Value {
    pointer
        .split('/')
        .filter(|field| !field.is_empty())
        .rev()
        .fold(value, |value, field| json!({field: value}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_plugins_have_an_owner_for_each_release_and_an_envoy_filter_has_one() {
        let owners = |kind| (kind, has_one_owner(kind));
        assert_eq!(
            ["EnvoyFilter", "WasmPlugin", "TrafficExtension"].map(owners),
            [("EnvoyFilter", true), ("WasmPlugin", false), ("TrafficExtension", false)]
        );
    }

    #[test]
    fn the_part_of_a_release_in_a_plugin_is_its_entry_and_in_an_envoy_filter_all_patches() {
        let config = json!({"format": 1, "releases": {"shop/shop": 1, "blog/blog": 2}});
        let ours = json!({"releases": {"shop/shop": 1}});
        for (object, part) in [
            (json!({"spec": {"pluginConfig": config}}), json!({"spec": {"pluginConfig": ours}})),
            (
                json!({"spec": {"wasm": {"pluginConfig": config}}}),
                json!({"spec": {"wasm": {"pluginConfig": ours}}}),
            ),
            (json!({"spec": {"configPatches": [1], "priority": 7}}), json!({"spec": {"configPatches": [1]}})),
            (json!({"spec": {"hosts": []}}), json!({})),
        ] {
            assert_eq!(owned_config(&object, "shop/shop"), part, "{object}");
        }
    }
}
