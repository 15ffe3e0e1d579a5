//! `ecds.yaml`: the filter's configuration. Replacing this file is what a weight change is.

use super::Error;
use assignment::FilterConfig;
use assignment::contract::ContractError;
use placed_yaml::Template;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../../envoyfilter-templates/local-ecds.yaml");
const CONFIG: &str = "resources/0/typed_config/config";

/// The name of the filter's configuration in Envoy, as in `extension_config_discovery.http_filter.<name>.*`.
pub const RESOURCE_NAME: &str = "canary/assign";

/// A file without a configuration: Envoy starts, waits, and continues with the filter's native default.
pub const EMPTY_ECDS: &str = "version_info: \"0\"\nresources: []\n";

/// The file for a configuration, which is not checked: tests write bad ones too. `version` is what Envoy reports back.
///
/// # Errors
///
/// If the template cannot be filled in. Not if the filter would refuse the configuration.
pub fn ecds(config: &FilterConfig, module: &Path, version: &str) -> Result<String, Error> {
    let json = config.to_json().map_err(|error: ContractError| canary_release::config::Error::from(error))?;
    from_json(&json, module, version)
}

/// The file for a configuration as text, which need not even be JSON.
pub(super) fn from_json(json: &str, module: &Path, version: &str) -> Result<String, Error> {
    let mut template = Template::new(TEMPLATE)?;
    template
        .set("version_info", version)?
        .set("resources/0/name", RESOURCE_NAME)?
        .set(&format!("{CONFIG}/vm_config/code/local/filename"), module)?
        .set(&format!("{CONFIG}/configuration/value"), json)?;
    Ok(template.finish()?)
}
