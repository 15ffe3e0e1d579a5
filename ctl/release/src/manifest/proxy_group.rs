//! Releases that share a proxy: one filter and one configuration for all of them.

use super::{ReleaseInstance, SharedMetadata};
use crate::config::{self, Disagreement, optional, quoted};
use crate::manifest::{Error, Options};
use crate::metrics::ReleaseGeneration;
use crate::spec::{Delivery, Module, Selector};
use assignment::contract::{KeySource, Position};
use std::collections::BTreeMap;

/// The releases of some pods.
#[derive(Debug)]
pub(super) struct ProxyGroup<'r> {
    pub(super) pods: &'r Selector,
    /// Their position.
    pub(super) position: Position,
    /// Their releases. Never empty.
    pub(super) members: Vec<&'r ReleaseInstance<'r>>,
    /// Their delivery, about which the releases agree.
    pub(super) delivery: &'r Delivery,
    /// The labels and annotations that they give the objects which they share.
    pub(super) metadata: SharedMetadata,
}

/// All groups, gateways first.
///
/// # Errors
///
/// If the releases of a group disagree about the module, the mode or the revision of Istio.
pub(super) fn groups<'r>(all: &'r [ReleaseInstance<'r>]) -> Result<Vec<ProxyGroup<'r>>, Error> {
    let mut members: BTreeMap<(bool, &Selector), Vec<&ReleaseInstance<'_>>> = BTreeMap::new();
    for member in all {
        let release = member.release;
        let gateways = release.gateways.iter().map(|gateway| (false, &gateway.pods));
        let sidecars = release.sidecars.iter().map(|pods| (true, pods));
        for key in gateways.chain(sidecars) {
            let members = members.entry(key).or_default();
            // Two Gateway objects on the same pods are one proxy.
            if !members.iter().any(|other| other.release.name == release.name) {
                members.push(member);
            }
        }
    }
    members.into_iter().filter_map(|((is_mesh, pods), members)| group(is_mesh, pods, members)).collect()
}

fn group<'r>(
    is_mesh: bool,
    pods: &'r Selector,
    members: Vec<&'r ReleaseInstance<'r>>,
) -> Option<Result<ProxyGroup<'r>, Error>> {
    let delivery = &members.first()?.release.delivery;
    if let Err(error) = agree(&members) {
        return Some(Err(error.into()));
    }
    let position = if is_mesh { Position::Mesh } else { Position::Edge };
    let metadata = SharedMetadata::of_releases(members.iter().map(|member| member.release));
    let group = |metadata| ProxyGroup { pods, position, members, delivery, metadata };
    Some(metadata.map(group).map_err(Error::from))
}

/// Fails if the releases of a proxy do not have the same module by the same objects.
fn agree(members: &[&ReleaseInstance<'_>]) -> Result<(), config::Error> {
    let Some((first, others)) = members.split_first() else { return Ok(()) };
    let (first, delivery) = (&first.release.name, &first.release.delivery);
    for other in others.iter().map(|member| member.release) {
        let theirs = &other.delivery;
        let (field, ours, theirs) = if theirs.mode != delivery.mode {
            ("delivery.mode", quoted(delivery.mode.as_str()), quoted(theirs.mode.as_str()))
        } else if theirs.module != delivery.module {
            ("delivery.module", module(&delivery.module), module(&theirs.module))
        } else if theirs.sha256 != delivery.sha256 {
            ("delivery.sha256", optional(delivery.sha256.as_ref()), optional(theirs.sha256.as_ref()))
        } else {
            continue;
        };
        return Err(Disagreement::error(field, (first, ours), (&other.name, theirs)));
    }
    Ok(())
}

/// A module as a message shows it.
fn module(module: &Module) -> String {
    match module {
        Module::Embedded(Some(embedded)) => format!("{} ({})", quoted(module.url()), embedded.digest()),
        _ => quoted(module.url()),
    }
}

impl ProxyGroup<'_> {
    /// The name of the object that holds the configuration.
    pub(super) fn config_name(&self) -> String {
        self.object_name("config")
    }

    /// The place of the configuration.
    pub(super) fn place(&self) -> crate::object::NamespacedName {
        (self.pods.namespace.to_string(), self.config_name())
    }

    /// The name of the object that inserts the filter.
    pub(super) fn filter_name(&self) -> String {
        self.object_name("filter")
    }

    /// The name of the configuration within the proxy: qualified, because those names are one space per proxy.
    ///
    /// That of the filter, if it exists. A new filter on a cluster gets a name that none before it had: a filter that was deleted
    /// asks for its configuration until its listener is drained, and would report that it runs.
    pub(super) fn resource_name(&self, options: Options<'_>) -> String {
        if let Some(name) = options.resource_names.get(&self.place()) {
            return name.clone();
        }
        let name = format!("canary-ctl/{}/{}", self.pods.namespace, self.config_name());
        let generations = self.members.iter().map(|member| member.state.release_generation());
        match generations.max().filter(|latest| latest.installed_at_seconds > 0) {
            Some(ReleaseGeneration { installed_at_seconds, generation }) => {
                format!("{name}/{installed_at_seconds}-{generation}")
            }
            None => name,
        }
    }

    /// Whether a user key of a release is a claim that `jwt_authn` wrote: at a gateway only, a sidecar has none for
    /// outbound requests.
    pub(super) fn needs_jwt(&self) -> bool {
        let is_jwt = |key: &KeySource| matches!(key, KeySource::Jwt { .. });
        self.position == Position::Edge
            && self.members.iter().any(|member| member.release.identify_by.iter().any(is_jwt))
    }

    fn object_name(&self, what: &str) -> String {
        object_name(self.pods.labels.values(), what)
    }
}

/// `canary-<the labels' values>-<what>`: the same for every release of the pods, another for other pods.
pub(super) fn object_name<'v>(values: impl Iterator<Item = &'v String>, what: &str) -> String {
    let values: Vec<String> = values.map(|value| crate::spec::version_subset(value)).collect();
    let pods = if values.is_empty() { "all".to_owned() } else { values.join("-") };
    format!("canary-{pods}-{what}")
}
