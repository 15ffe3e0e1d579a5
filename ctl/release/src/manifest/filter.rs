//! The static `EnvoyFilter`: the filter's place in the chain, and the headers that no client may send.

use super::proxy_group::ProxyGroup;
use super::untrusted_headers;
use crate::delivery::select_pods;
use crate::manifest::{Error, Options};
use assignment::contract::{HeaderNames, Position};
use placed_yaml::Template;
use serde_json::json;

const GATEWAY: &str = include_str!("../../../../envoyfilter-templates/gateway-filter.yaml");
const GATEWAY_JWT: &str = include_str!("../../../../envoyfilter-templates/gateway-filter-jwt.yaml");
const SIDECAR: &str = include_str!("../../../../envoyfilter-templates/sidecar-filter.yaml");
const MUTATION: &str =
    "spec/configPatches/0/patch/value/typed_config/early_header_mutation_extensions/0/typed_config";

/// The object of a group.
pub(super) fn document(group: &ProxyGroup<'_>, options: Options<'_>) -> Result<String, Error> {
    // The plugin's own object sets the filter's place.
    let is_plugin = group.delivery.mode.config_object().is_plugin;
    let (text, place) = match group.position {
        Position::Edge if group.needs_jwt() && !is_plugin => (GATEWAY_JWT, 3),
        Position::Edge => (GATEWAY, 1),
        Position::Mesh => (SIDECAR, 1),
    };
    let mut template = Template::new(text)?;
    let headers = untrusted_headers(&HeaderNames::default(), group.position);
    let removals: Vec<_> = headers.into_iter().map(|name| json!({"remove": name})).collect();
    template
        .set("metadata/name", group.filter_name())?
        .set("metadata/namespace", group.pods.namespace.as_str())?
        .set(&format!("{MUTATION}/mutations"), removals)?;
    select_pods(&mut template, "spec/workloadSelector", "labels", group.pods)?;
    let place = format!("spec/configPatches/{place}");
    if is_plugin {
        template.remove(&place)?;
    } else {
        template.set(&format!("{place}/patch/value/name"), group.resource_name(options))?;
    }
    Ok(template.finish()?)
}
