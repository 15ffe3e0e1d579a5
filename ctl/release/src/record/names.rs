//! The names in a record: each becomes part of a path, a selector or a message, so each is read as what it is.
//!
//! Which objects a release can have is a closed set: nine kinds, and of each the names that this tool gives. A record names no other ones, and none
//! of them is another release's but for those that the releases of a proxy share.

use super::{OwnedObject, Record};
use crate::delivery::{ModuleRollout, config_kinds, module_backup};
use crate::object::{Reference, Stage};
use crate::routing::{GATEWAY_API, ROUTE_KIND, RouteKind, VersionName};
use crate::spec::{Label, ReleaseName, is_label_name, is_label_value};
use std::collections::BTreeSet;

const ISTIO: &str = "networking.istio.io/";

impl Record {
    /// Checks all names of the record of a release; the first one that has another form is the error.
    pub(super) fn check_names(&self, release: &ReleaseName) -> Result<(), String> {
        let state = &self.state;
        let versions = state.versions.iter().map(|version| &version.name);
        let versions = versions.chain(state.gone.iter().map(|gone| &gone.name)).chain([&state.adopt]);
        let versions = versions.chain(&self.leaving).chain(self.draining.keys());
        let turned = self.role_change.iter().flat_map(|change| [&change.from, &change.to]);
        let rolled_out = self.rollout.iter().map(|rollout| &rollout.canary);
        for version in versions.chain(turned).chain(rolled_out) {
            expect(is_label_value(version), "a label value as a version", version)?;
        }
        namespace(&self.service.name, "the name of a Service")?;
        expect(is_label_name(&self.service.label), "the name of a label", &self.service.label)?;
        for proxies in &self.proxies {
            namespace(&proxies.namespace, "a namespace")?;
            for (name, value) in &proxies.labels {
                expect(is_label_name(name), "the name of a label", name)?;
                expect(is_label_value(value), "the value of a label", value)?;
            }
        }
        if self.proxies.is_empty() {
            return Err("expected the proxies of the release, found none".to_owned());
        }
        if let Some(train) = &self.train {
            train.namespaces.iter().try_for_each(|of| namespace(of, "a namespace"))?;
            expect(is_label_value(&train.name), "a label value as a train", &train.name)?;
        }
        let configurations: BTreeSet<&Reference> = self.config_objects().collect();
        let rolled_out = self.module_rollout.iter().flat_map(ModuleRollout::objects);
        for object in rolled_out {
            expect(configurations.contains(object), "a configuration of the release", &object.to_string())?;
        }
        let is_of_version = |object: &&OwnedObject| self.is_of_version(object, release);
        self.objects
            .iter()
            .filter(|object| !is_of_version(object))
            .try_for_each(|object| check_object(object, release))
    }

    /// Whether an object is one that a version has for itself beside routes of others.
    fn is_of_version(&self, (stage, object): &OwnedObject, release: &ReleaseName) -> bool {
        let (api, expected) = match object.kind.as_str() {
            "Service" => ("v1", Stage::Subsets),
            "DestinationRule" => ("networking.istio.io/v1", Stage::Subsets),
            kind if RouteKind::of(kind).is_some() => (GATEWAY_API, Stage::Routes),
            _ => return false,
        };
        let live = self.state.versions.iter().map(|version| version.name.as_str());
        let gone = self.state.gone.iter().map(|gone| gone.name.as_str());
        let mut versions = live.chain(gone).chain(self.leaving.iter().map(String::as_str));
        let (release_name, service) = (release.name.as_str(), self.service.name.as_str());
        (object.api_version.as_str(), *stage) == (api, expected)
            && object.namespace == release.namespace.as_str()
            && versions.any(|version| VersionName { release: release_name, service, version }.has(object))
    }
}

/// Whether an object is one that a release can have at this stage.
fn check_object((stage, object): &OwnedObject, release: &ReleaseName) -> Result<(), String> {
    let Reference { api_version, kind, namespace: of, name } = object;
    namespace(of, "a namespace")?;
    let is_own = *of == *release.namespace.as_str();
    let own = format!("{}-canary", release.name);
    let is_istio = api_version.strip_prefix(ISTIO).is_some_and(|version| version.parse::<Label>().is_ok());
    let is_of_proxy = |suffix: &str| {
        let pods = name.strip_prefix("canary-").and_then(|name| name.strip_suffix(suffix));
        pods.is_some_and(is_object_name)
    };
    let is_valid = match stage {
        Stage::Subsets => is_own && is_istio && kind == "DestinationRule" && *name == own,
        Stage::Routes => {
            is_own && is_istio && kind == ROUTE_KIND && (*name == own || *name == format!("{own}-mesh"))
        }
        Stage::Edits => is_own && is_istio && kind == ROUTE_KIND && is_object_name(name),
        Stage::Configuration => {
            config_kinds().any(|known| known == (api_version.as_str(), kind.as_str()))
                && is_of_proxy("-config")
        }
        Stage::Runtime => is_istio && kind == "EnvoyFilter" && is_of_proxy("-runtime"),
        Stage::Filter => is_istio && kind == "EnvoyFilter" && is_of_proxy("-filter"),
        Stage::ModuleBackup => *object == module_backup(release),
    };
    expect(is_valid, "an object that a release can have", &object.to_string())
}

/// A DNS subdomain, as Kubernetes wants the names of most objects
/// ([Object names](https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names)).
fn is_object_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(is_inner) && !part.starts_with('-') && !part.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_part)
}

fn namespace(name: &str, expected: &str) -> Result<(), String> {
    expect(name.parse::<Label>().is_ok(), expected, name)
}

fn expect(is_valid: bool, expected: &str, found: &str) -> Result<(), String> {
    if is_valid { Ok(()) } else { Err(format!("expected {expected}, found `{found}`")) }
}
