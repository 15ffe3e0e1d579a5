//! What versions have for themselves beside routes of others, found again without a record.

use super::ServiceRef;
use crate::object::{Reference, Stage};
use crate::routing::{RouteKind, VersionName, is_ours};
use crate::spec::ReleaseName;
use crate::state::ReleaseState;
use serde_json::Value;

/// A version for the names of its routes.
pub(super) fn version_name<'v>(release: &'v ReleaseName, version: &'v str) -> VersionName<'v> {
    VersionName { release: release.name.as_str(), service: "", version }
}

/// The objects that versions have for themselves beside routes of others: their routes, and what these lead to.
pub(super) fn version_objects<'o>(
    release: &ReleaseName,
    objects: &'o [Value],
    state: &ReleaseState,
) -> Vec<(Stage, Reference, &'o Value)> {
    let all = objects.iter().filter(|object| is_ours(object));
    let all = all.filter_map(|object| Some((Reference::of(object).ok()?, object)));
    let all: Vec<_> = all.filter(|(object, _)| object.namespace == release.namespace.as_str()).collect();
    let versions = state.versions.iter().map(|version| version.name.as_str());
    let versions = versions.chain(state.gone.iter().map(|gone| gone.name.as_str()));
    let mut found = Vec::new();
    for version in versions {
        let name = version_name(release, version);
        let named = all.iter().filter(|(object, _)| name.has(object)).cloned();
        let (routes, rules): (Vec<_>, Vec<_>) =
            named.partition(|(object, _)| RouteKind::of(&object.kind).is_some());
        let target =
            routes.first().and_then(|(_, route)| route.pointer("/spec/rules/0/backendRefs/0/name")?.as_str());
        let services =
            all.iter().filter(|(object, _)| object.kind == "Service" && Some(object.name.as_str()) == target);
        found.extend(services.cloned().chain(rules).map(|(object, body)| (Stage::Subsets, object, body)));
        found.extend(routes.into_iter().map(|(object, body)| (Stage::Routes, object, body)));
    }
    found
}

/// The plain Service, by those of versions: their names are its own and a version's, and they select a version by the label.
pub(super) fn plain_service(
    release: &ReleaseName,
    of_versions: &[(Stage, Reference, &Value)],
    state: &ReleaseState,
) -> Option<ServiceRef> {
    let services = of_versions.iter().filter(|(_, object, _)| object.kind == "Service");
    services.into_iter().find_map(|(_, object, body)| {
        let selector = body.pointer("/spec/selector")?.as_object()?;
        let (label, version) = selector.iter().find_map(|(label, value)| {
            let version =
                state.versions.iter().find(|version| Some(version.name.as_str()) == value.as_str())?;
            let is_its = object.name.ends_with(&version_name(release, &version.name).service());
            is_its.then(|| (label.clone(), version.name.clone()))
        })?;
        let name = object.name.strip_suffix(&version_name(release, &version).service())?.to_owned();
        Some(ServiceRef { name, label, per_version: true })
    })
}
