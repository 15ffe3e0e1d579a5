//! `mode: wasmplugin`: a `WasmPlugin`, Istio's own kind up to 1.29.

use super::config_object::{ConfigField, ConfigObject};
use super::plugin;

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/wasmplugin.yaml");

/// A `WasmPlugin`.
pub(super) const OBJECT: ConfigObject = ConfigObject {
    api_version: "extensions.istio.io/v1alpha1",
    kind: "WasmPlugin",
    config: ConfigField::Structure("/spec/pluginConfig"),
    module: "/spec",
    module_fields: &["url", "sha256"],
    is_plugin: true,
    document: |object| plugin::document(TEMPLATE, "spec", object),
};
