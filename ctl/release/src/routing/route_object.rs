//! What a route object of another owner is: whether it leads to the Service, and whether our routes are in it.

use super::{HostBinding, MESH, RouteTargets, narrower, virtual_service_routes};
use crate::object::{FIELD_MANAGER, Owners, TAKEN_FROM};
use crate::spec::{ReleaseName, ServiceHost};
use serde_json::Value;

/// Those of others that lead to the Service.
pub(crate) fn leading<'v>(
    targets: &'v RouteTargets,
    route_objects: &'v [Value],
) -> impl Iterator<Item = &'v Value> {
    route_objects.iter().filter(|seen| !is_ours(seen) && virtual_service_routes::leads(http(seen), targets))
}

/// Whether one of these route objects, which are not ours, serves the Service's own name inside the mesh, by a wildcard too: Istio
/// merges none there.
pub fn covers_mesh(service: &ServiceHost, route_objects: &[Value]) -> bool {
    let name = service.fqdn();
    route_objects.iter().filter(|seen| !is_ours(seen)).filter_map(HostBinding::of).any(|theirs| {
        theirs.gateways.iter().any(|gateway| gateway == MESH)
            && theirs.hosts.iter().any(|host| narrower(host, &name).as_ref() == Some(&name))
    })
}

/// Whether we have been here before.
pub(crate) fn was_edited(seen: &Value) -> bool {
    seen.pointer("/metadata/annotations").is_some_and(|all| all.get(TAKEN_FROM).is_some())
}

/// Other field managers that have written the routes of an object that we had edited.
pub(crate) fn lost_to(seen: &Value) -> Vec<String> {
    Owners::of(seen).others(&["spec", "http"]).into_iter().map(str::to_owned).collect()
}

/// Whether our routes to a version are missing in an object.
pub fn is_lost(seen: &Value, targets: &RouteTargets, version: &str) -> bool {
    !virtual_service_routes::carries(http(seen), targets, version)
}

/// A list of texts of its specification.
pub(crate) fn texts(seen: &Value, field: &str) -> Vec<String> {
    let list = seen.get("spec").and_then(|spec| spec.get(field)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

pub(crate) fn http(seen: &Value) -> &[Value] {
    seen.pointer("/spec/http").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether routes of a release were injected into an object.
pub(crate) fn has_injected_route(object: &Value, release: &ReleaseName) -> bool {
    virtual_service_routes::is_edited_for(http(object), &release.to_string())
}

/// Whether canary-ctl has made the object.
pub fn is_ours(seen: &Value) -> bool {
    let label =
        seen.pointer("/metadata/labels").and_then(|labels| labels.get("app.kubernetes.io/managed-by"));
    label.and_then(Value::as_str) == Some(FIELD_MANAGER)
}
