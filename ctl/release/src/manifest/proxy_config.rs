//! The object that a weight changes: the module and its configuration, for all releases of some pods.

use super::proxy_group::ProxyGroup;
use crate::config::{Disagreement, ProxySettings, filter_config, release_config};
use crate::delivery::ConfigDocument;
use crate::manifest::{Error, Options, redact};
use crate::spec::{Module, Release, ReleaseName};
use assignment::FilterConfig;
use assignment::contract::{Position, ReleaseConfig};
use std::collections::BTreeMap;

/// The object of a group.
pub(super) fn document(group: &ProxyGroup<'_>, options: Options<'_>) -> Result<String, Error> {
    let config = configuration(group, options)?;
    let json = if options.show_keys {
        config.to_json().map_err(crate::config::Error::from)?
    } else {
        redact::redacted(&config)
    };
    let inline_bytes = match &group.delivery.module {
        Module::Embedded(None) => return Err(Error::NoModule),
        Module::Embedded(Some(module)) if options.show_keys => module.base64().to_owned(),
        Module::Embedded(Some(module)) => format!("({})", module.digest()),
        Module::Url(_) | Module::File(_) => String::new(),
    };
    let document = group.delivery.mode.config_object().document;
    Ok(document(&ConfigDocument {
        name: group.config_name(),
        pods: group.pods,
        position: group.position,
        resource_name: group.resource_name(options),
        module: &group.delivery.module,
        inline_bytes: &inline_bytes,
        sha256: group.delivery.sha256.as_deref(),
        config: &json,
    })?)
}

/// Our releases, beside those of others that the proxies hold already.
fn configuration(group: &ProxyGroup<'_>, options: Options<'_>) -> Result<FilterConfig, Error> {
    let ours = group.members.iter().map(|member| member.release);
    let settings = ProxySettings::shared(ours, group.position)?;
    let mut releases = BTreeMap::new();
    if let Some(held) = options.held.get(&group.place()) {
        releases = others(held, group);
        agree(&settings, held, group, &releases)?;
    }
    for member in &group.members {
        let config = release_config(member.release, &member.state, group.position);
        releases.insert(member.release.name.clone(), with_hosts(config, member.release, group));
    }
    Ok(filter_config(&settings, options.keys, releases)?)
}

fn others(held: &FilterConfig, group: &ProxyGroup<'_>) -> BTreeMap<ReleaseName, ReleaseConfig> {
    let is_ours = |name: &ReleaseName| group.members.iter().any(|member| member.release.name == *name);
    let named = |(name, config): (&String, &ReleaseConfig)| Some((name.parse().ok()?, config.clone()));
    held.releases.iter().filter_map(named).filter(|(name, _)| !is_ours(name)).collect()
}

/// A setting that a proxy has once must be that of the other releases.
fn agree(
    settings: &ProxySettings,
    held: &FilterConfig,
    group: &ProxyGroup<'_>,
    others: &BTreeMap<ReleaseName, ReleaseConfig>,
) -> Result<(), Error> {
    let (Some(other), Some(first)) = (others.keys().next(), group.members.first()) else { return Ok(()) };
    let held = ProxySettings {
        position: held.position,
        id_cookie: held.id_cookie.clone(),
        debug_header: held.debug_header.clone(),
        filter_state: held.filter_state,
    };
    match settings.difference(&held) {
        Some((field, ours, theirs)) => {
            Err(Disagreement::error(field, (&first.release.name, ours), (other, theirs)).into())
        }
        None => Ok(()),
    }
}

/// Inside the mesh callers name the Service, in one of its spellings; the short one only within its namespace.
fn with_hosts(mut config: ReleaseConfig, release: &Release, group: &ProxyGroup<'_>) -> ReleaseConfig {
    if group.position == Position::Mesh {
        config.hosts = release.service_host().aliases(group.pods.namespace.as_str());
    }
    config
}
