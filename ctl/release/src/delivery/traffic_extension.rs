//! `mode: trafficextension`: a `TrafficExtension`, Istio's own kind from 1.30 on.

use super::config_object::{ConfigField, ConfigObject};
use super::plugin;

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/trafficextension.yaml");

/// A `TrafficExtension`.
pub(super) const OBJECT: ConfigObject = ConfigObject {
    api_version: "extensions.istio.io/v1alpha1",
    kind: "TrafficExtension",
    config: ConfigField::Structure("/spec/wasm/pluginConfig"),
    module: "/spec/wasm",
    module_fields: &["url", "sha256"],
    is_plugin: true,
    document: |object| plugin::document(TEMPLATE, "spec/wasm", object),
};
