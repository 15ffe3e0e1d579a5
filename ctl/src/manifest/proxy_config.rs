//! The object that a weight changes: the module and its configuration, for all releases of some pods.

use super::filter::select;
use super::group::Group;
use super::{Error, Options, redact};
use crate::config::{ProxySettings, Standing, filter_config, release_config};
use crate::spec::{Mode, Module, Release};
use crate::yaml::Template;
use assignment::FilterConfig;
use assignment::contract::{Position, ReleaseConfig};
use serde_json::{Value, json};

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

fn configuration(group: &Group<'_>, options: Options<'_>) -> Result<FilterConfig, Error> {
    let settings = ProxySettings::shared(group.releases.iter().copied(), group.position)?;
    let one = |release: &&Release| {
        let first = Standing::first(release, release.uid_or_derived());
        let standing = Standing { generation: options.generation, ..first };
        let config = release_config(release, &standing, group.position);
        (release.name.clone(), with_hosts(config, release, group))
    };
    let releases = group.releases.iter().map(one).collect();
    Ok(filter_config(&settings, options.keys, releases)?)
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
