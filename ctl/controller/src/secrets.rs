//! Secrets that a release names: URLs of receivers, tokens, signing keys of hooks.
//!
//! The controller may read more Secrets than who writes an object, so their owner says by a label which ones releases may use.

use canary_release::spec::{Release, SecretSource};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use std::collections::BTreeSet;

/// The label of a Secret that releases of its namespace may use; its value is `true`.
const LABEL: &str = "canary-ctl.io/for-releases";

/// The sources of a release's secrets.
pub(crate) fn sources(release: &Release) -> impl Iterator<Item = &SecretSource> {
    let rollout = &release.rollout;
    let alerts = rollout.alerts.endpoints.values().map(|endpoint| &endpoint.url_from);
    let hooks = rollout.hooks.endpoints.values();
    let hooks = hooks.flat_map(|hook| std::iter::once(&hook.url_from).chain(&hook.signature_key_from));
    let token = rollout.analysis.prometheus.iter().filter_map(|server| server.bearer_token_from.as_ref());
    alerts.chain(hooks).chain(token)
}

/// A Secret that a release names and whose owner has not given it to releases. One that does not exist is for the driver to miss.
pub(crate) async fn not_given(client: &Client, release: &Release) -> Result<Option<String>, kube::Error> {
    let named = sources(release).filter_map(|source| match source {
        SecretSource::Secret { name, .. } => Some(name.as_str()),
        SecretSource::Inline | SecretSource::Env(_) | SecretSource::File(_) => None,
    });
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Secret"));
    let secrets: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), release.name.namespace.as_str(), &resource);
    for name in named.collect::<BTreeSet<_>>() {
        let Some(found) = secrets.get_metadata_opt(name).await? else { continue };
        let label = found.metadata.labels.and_then(|mut labels| labels.remove(LABEL));
        if label.as_deref() != Some("true") {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}
