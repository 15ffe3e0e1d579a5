//! The `DestinationRule`: a subset for each version, named by version and not by role.

use super::ReleaseInstance;
use crate::manifest::Error;
use crate::spec::{Release, version_subset};
use assignment::contract::{HeaderNames, SessionAffinity};
use placed_yaml::Template;
use serde_json::{Value, json};

const TEMPLATE: &str = include_str!("../../../../envoyfilter-templates/destinationrule.yaml");

/// The object of a release.
pub(super) fn document(member: &ReleaseInstance<'_>) -> Result<String, Error> {
    let release = member.release;
    let mut template = Template::new(TEMPLATE)?;
    let subset = |version: &str| {
        let label = &release.versions.label;
        json!({"name": version_subset(version), "labels": {label: version}})
    };
    let subsets: Vec<_> = member.routed().map(subset).collect();
    template
        .set("metadata/name", object_name(release))?
        .set("metadata/namespace", release.name.namespace.as_str())?
        .set("spec/host", release.service_host().fqdn())?
        .set("spec/subsets", subsets)?;
    if release.session_affinity == SessionAffinity::Identity {
        // On the host, and so on every subset of it: the same user is on the same pod of whichever version.
        let hash = json!({"consistentHash": {"httpHeaderName": HeaderNames::default().identity}});
        template.set("spec/trafficPolicy", json!({"loadBalancer": hash}))?;
    }
    Ok(template.finish()?)
}

/// Whether a rule keeps each user on a pod by the filter's identity header: one that we have written, for a host that had no policy.
pub fn hashes_on_identity(rule: &Value) -> bool {
    let header = rule.pointer("/spec/trafficPolicy/loadBalancer/consistentHash/httpHeaderName");
    header.and_then(Value::as_str) == Some(&HeaderNames::default().identity)
}

/// The name of a release's own objects in its namespace.
pub(super) fn object_name(release: &Release) -> String {
    format!("{}-canary", release.name.name)
}
