//! What Istio's kinds for Wasm plugins have in common.

use super::config_object::ConfigDocument;
use super::select_pods;
use placed_yaml::{EditError, Template};
use serde_json::Value;

/// Fills in a template, of which `plugin` is the path of the plugin's own fields: a `TrafficExtension` has them one level deeper
/// than a `WasmPlugin`.
pub(super) fn document(
    template: &str,
    plugin: &str,
    object: &ConfigDocument<'_>,
) -> Result<String, EditError> {
    let mut template = Template::new(template)?;
    // A structure, not a text: each release can have its own field manager, and no space is lost to escaped quotes.
    let config: Value = serde_json::from_str(object.config).unwrap_or_default();
    template
        .set("metadata/name", &object.name)?
        .set("metadata/namespace", object.pods.namespace.as_str())?
        .set(&format!("{plugin}/url"), object.module.url())?
        .set(&format!("{plugin}/pluginConfig"), config)?;
    if let Some(sha256) = object.sha256 {
        template.set(&format!("{plugin}/sha256"), sha256)?;
    }
    select_pods(&mut template, "spec/selector", "matchLabels", object.pods)?;
    template.finish()
}
