//! The object that a weight changes: the module and its configuration, for all releases of some pods.

use super::filter::select;
use super::group::Group;
use super::{Error, Options, redact};
use crate::config::{ProxySettings, filter_config, release_config};
use crate::spec::{Mode, Module, Release, ReleaseName};
use crate::yaml::Template;
use assignment::FilterConfig;
use assignment::contract::{Position, ReleaseConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const GATEWAY: &str = include_str!("../../../envoyfilter-templates/gateway-config.yaml");
const SIDECAR: &str = include_str!("../../../envoyfilter-templates/sidecar-config.yaml");
const WASM_PLUGIN: &str = include_str!("../../../envoyfilter-templates/wasmplugin.yaml");
const TRAFFIC_EXTENSION: &str = include_str!("../../../envoyfilter-templates/trafficextension.yaml");
const WASM: &str = "spec/configPatches/0/patch/value/typed_config/config";

/// The object of a group.
pub(super) fn document(group: &Group<'_>, options: Options<'_>) -> Result<String, Error> {
    let config = configuration(group, options)?;
    let json = if options.show_keys {
        config.to_json().map_err(crate::config::Error::from)?
    } else {
        redact::redacted(&config)
    };
    match group.delivery.mode {
        Mode::WasmPlugin => plugin(WASM_PLUGIN, "spec", group, &json),
        Mode::TrafficExtension => plugin(TRAFFIC_EXTENSION, "spec/wasm", group, &json),
        Mode::EnvoyFilter | Mode::Local => extension_config(group, &json),
    }
}

/// Our releases, beside those of others that the proxies hold already.
fn configuration(group: &Group<'_>, options: Options<'_>) -> Result<FilterConfig, Error> {
    let ours = group.members.iter().map(|member| member.release);
    let settings = ProxySettings::shared(ours, group.position)?;
    let mut releases = BTreeMap::new();
    if let Some(held) = options.held.get(&group.place()) {
        releases = others(held, group);
        agree(&settings, held, group, &releases)?;
    }
    for member in &group.members {
        let config = release_config(member.release, &member.standing, group.position);
        releases.insert(member.release.name.clone(), with_hosts(config, member.release, group));
    }
    Ok(filter_config(&settings, options.keys, releases)?)
}

fn others(held: &FilterConfig, group: &Group<'_>) -> BTreeMap<ReleaseName, ReleaseConfig> {
    let is_ours = |name: &ReleaseName| group.members.iter().any(|member| member.release.name == *name);
    let named = |(name, config): (&String, &ReleaseConfig)| Some((name.parse().ok()?, config.clone()));
    held.releases.iter().filter_map(named).filter(|(name, _)| !is_ours(name)).collect()
}

/// What a proxy has once must be what the releases of others were promised.
fn agree(
    settings: &ProxySettings,
    held: &FilterConfig,
    group: &Group<'_>,
    others: &BTreeMap<ReleaseName, ReleaseConfig>,
) -> Result<(), Error> {
    let (Some(other), Some(first)) = (others.keys().next(), group.members.first()) else { return Ok(()) };
    let what = match () {
        () if held.id_cookie != settings.id_cookie => "cookies",
        () if held.debug_header != settings.debug_header => "delivery.debugHeader",
        () if held.filter_state != settings.filter_state => "delivery.filterState",
        () => return Ok(()),
    };
    let first = first.release.name.to_string();
    Err(crate::config::Error::Disagree { first, second: other.to_string(), what }.into())
}

/// Inside the mesh callers name the Service, in one of its spellings; the short one only within its namespace.
fn with_hosts(mut config: ReleaseConfig, release: &Release, group: &Group<'_>) -> ReleaseConfig {
    if group.position == Position::Mesh {
        let (service, namespace) = (&release.service.name, &release.name.namespace);
        let short = (*namespace == group.pods.namespace).then(|| service.to_string());
        let long = ["", ".svc", ".svc.cluster.local"].map(|end| format!("{service}.{namespace}{end}"));
        config.hosts = short.into_iter().chain(long).collect();
    }
    config
}

fn extension_config(group: &Group<'_>, json: &str) -> Result<String, Error> {
    let mut template = Template::new(match group.position {
        Position::Edge => GATEWAY,
        Position::Mesh => SIDECAR,
    })?;
    template
        .set("metadata/name", group.config_name())?
        .set("metadata/namespace", group.pods.namespace.as_str())?
        .set("spec/configPatches/0/patch/value/name", group.resource_name())?
        .set(&format!("{WASM}/configuration/value"), json)?;
    let code = format!("{WASM}/vm_config/code");
    match (&group.delivery.module, local_path(&group.delivery.module)) {
        (_, Some(path)) => {
            template.set(&code, json!({"local": {"filename": path}}))?;
        }
        (module, None) => {
            template.set(&format!("{code}/remote/http_uri/uri"), url(module))?;
            if let Some(sha256) = &group.delivery.sha256 {
                template.set(&format!("{code}/remote/sha256"), sha256)?;
            }
        }
    }
    select(&mut template, group)?;
    Ok(template.finish()?)
}

/// `spec` is where the plugin's own fields are: a `TrafficExtension` has them one level deeper.
fn plugin(text: &str, spec: &str, group: &Group<'_>, json: &str) -> Result<String, Error> {
    let mut template = Template::new(text)?;
    // A structure, not a text: each release can have its own field manager, and no room goes into escaped quotes.
    let config: Value = serde_json::from_str(json).unwrap_or_default();
    template
        .set("metadata/name", group.config_name())?
        .set("metadata/namespace", group.pods.namespace.as_str())?
        .set(&format!("{spec}/url"), url(&group.delivery.module))?
        .set(&format!("{spec}/pluginConfig"), config)?;
    if let Some(sha256) = &group.delivery.sha256 {
        template.set(&format!("{spec}/sha256"), sha256)?;
    }
    if group.pods.labels.is_empty() {
        template.remove("spec/selector")?;
    } else {
        template.set("spec/selector/matchLabels", &group.pods.labels)?;
    }
    Ok(template.finish()?)
}

fn url(module: &Module) -> String {
    match module {
        Module::Url(url) => url.clone(),
        Module::File(path) => format!("file://{}", path.display()),
    }
}

/// The path of a module that is in the proxy's own file system.
fn local_path(module: &Module) -> Option<&str> {
    match module {
        Module::Url(url) => url.strip_prefix("file://"),
        Module::File(path) => path.to_str(),
    }
}
