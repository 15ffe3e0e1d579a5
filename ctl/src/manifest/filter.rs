//! The static `EnvoyFilter`: the filter's place in the chain, and the headers that no client may send.

use super::group::Group;
use super::{Error, untrusted_headers};
use crate::yaml::Template;
use assignment::contract::{HeaderNames, Position};
use serde_json::json;

const GATEWAY: &str = include_str!("../../../envoyfilter-templates/gateway-filter.yaml");
const GATEWAY_JWT: &str = include_str!("../../../envoyfilter-templates/gateway-filter-jwt.yaml");
const SIDECAR: &str = include_str!("../../../envoyfilter-templates/sidecar-filter.yaml");
const MUTATION: &str =
    "spec/configPatches/0/patch/value/typed_config/early_header_mutation_extensions/0/typed_config";

/// The object of a group.
pub(super) fn document(group: &Group<'_>) -> Result<String, Error> {
    // The plugin's own object says where the filter is.
    let is_plugin = group.is_plugin();
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
    select(&mut template, group)?;
    let place = format!("spec/configPatches/{place}");
    if is_plugin {
        template.remove(&place)?;
    } else {
        template.set(&format!("{place}/patch/value/name"), group.resource_name())?;
    }
    Ok(template.finish()?)
}

/// Which pods; an object without a selector is for all of its namespace.
pub(super) fn select(template: &mut Template, group: &Group<'_>) -> Result<(), Error> {
    if group.pods.labels.is_empty() {
        template.remove("spec/workloadSelector")?;
    } else {
        template.set("spec/workloadSelector/labels", &group.pods.labels)?;
    }
    Ok(())
}
