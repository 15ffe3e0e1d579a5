//! The static `EnvoyFilter`: the filter's place in the chain, and the headers that no client may send.

use super::group::Group;
use super::{Error, untrusted_headers};
use crate::yaml::Template;
use assignment::contract::{HeaderNames, Position};
use serde_json::json;

const GATEWAY: &str = include_str!("../../../envoyfilter-templates/gateway-filter.yaml");
const SIDECAR: &str = include_str!("../../../envoyfilter-templates/sidecar-filter.yaml");
const MUTATION: &str =
    "spec/configPatches/0/patch/value/typed_config/early_header_mutation_extensions/0/typed_config";

/// The object of a group.
pub(super) fn document(group: &Group<'_>) -> Result<String, Error> {
    let mut template = Template::new(match group.position {
        Position::Edge => GATEWAY,
        Position::Mesh => SIDECAR,
    })?;
    let headers = untrusted_headers(&HeaderNames::default(), group.position);
    let removals: Vec<_> = headers.into_iter().map(|name| json!({"remove": name})).collect();
    template
        .set("metadata/name", group.filter_name())?
        .set("metadata/namespace", group.pods.namespace.as_str())?
        .set(&format!("{MUTATION}/mutations"), removals)?;
    select(&mut template, group)?;
    if group.is_plugin() {
        // The plugin's own object says where the filter is.
        template.remove("spec/configPatches/1")?;
        return Ok(template.finish()?);
    }
    template.set("spec/configPatches/1/patch/value/name", group.resource_name())?;
    if group.needs_jwt() {
        let filter = "spec/configPatches/1/match/listener/filterChain/filter/subFilter";
        template
            .set(filter, json!({"name": "envoy.filters.http.jwt_authn"}))?
            .set("spec/configPatches/1/patch/operation", "INSERT_AFTER")?;
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
