//! `mode: envoyfilter`: the extension configuration of an `EnvoyFilter`, which ECDS delivers.

use super::config_object::{ConfigDocument, ConfigField, ConfigObject};
use super::select_pods;
use crate::object::MODULE_BYTES;
use crate::spec::Module;
use assignment::contract::Position;
use placed_yaml::{EditError, Template};
use serde_json::{Value, json};

const GATEWAY: &str = include_str!("../../../../envoyfilter-templates/gateway-config.yaml");
const SIDECAR: &str = include_str!("../../../../envoyfilter-templates/sidecar-config.yaml");

/// An `EnvoyFilter`.
pub(super) const OBJECT: ConfigObject = ConfigObject {
    api_version: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    config: ConfigField::Text {
        config: "/spec/configPatches/0/patch/value/typed_config/config/configuration/value",
        list: "/spec/configPatches",
    },
    module: "/spec/configPatches/0/patch/value/typed_config/config/vm_config",
    module_fields: &["code"],
    is_plugin: false,
    document,
};

fn document(object: &ConfigDocument<'_>) -> Result<String, EditError> {
    let mut template = Template::new(match object.position {
        Position::Edge => GATEWAY,
        Position::Mesh => SIDECAR,
    })?;
    template
        .set("metadata/name", &object.name)?
        .set("metadata/namespace", object.pods.namespace.as_str())?
        .set("spec/configPatches/0/patch/value/name", &object.resource_name)?
        .set(path(OBJECT.config.pointer()), object.config)?;
    let code = format!("{}/code", path(OBJECT.module));
    match object.module {
        Module::Embedded(_) => {
            template.set(&code, json!({"local": {MODULE_BYTES: object.inline_bytes}}))?;
        }
        module => {
            if let Some(file) = local_path(module) {
                template.set(&code, json!({"local": {"filename": file}}))?;
            } else {
                template.set(&format!("{code}/remote/http_uri/uri"), module.url())?;
                if let Some(sha256) = object.sha256 {
                    template.set(&format!("{code}/remote/sha256"), sha256)?;
                }
            }
        }
    }
    select_pods(&mut template, "spec/workloadSelector", "labels", object.pods)?;
    template.finish()
}

/// The name under which a filter asks for its configuration; `None` for an object that inserts none.
pub(crate) fn resource_name(filter: &Value) -> Option<&str> {
    let patches = filter.pointer("/spec/configPatches")?.as_array()?;
    let values = patches.iter().filter_map(|patch| patch.pointer("/patch/value"));
    let mut inserted = values.filter(|value| value.get("config_discovery").is_some());
    inserted.next()?.get("name")?.as_str()
}

/// The path of a module that is in the proxy's own file system.
fn local_path(module: &Module) -> Option<&str> {
    match module {
        Module::Embedded(_) => None,
        Module::Url(url) => url.strip_prefix("file://"),
        Module::File(path) => path.to_str(),
    }
}

/// A JSON pointer as a template's path.
fn path(pointer: &str) -> &str {
    pointer.trim_start_matches('/')
}
