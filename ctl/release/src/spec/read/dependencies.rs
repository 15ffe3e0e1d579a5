//! `spec.rollout.dependsOn`: releases that have to be at a version before a rollout raises the weight.

use super::analysis::MetricSubject;
use crate::spec::{Label, ReleaseDependency, ReleaseName};
use placed_yaml::{Node, Section};

/// A driver reads the record of each with every observation.
pub(in crate::spec) const MAX_DEPENDENCIES: usize = 20;

/// Reads them. Faults are recorded, and a dependency with one is left out.
pub(super) fn dependencies(rollout: &mut Section<'_>, of: &MetricSubject<'_>) -> Vec<ReleaseDependency> {
    let Some(node) = rollout.node("dependsOn") else { return Vec::new() };
    let items = rollout.items("dependsOn", node).unwrap_or_default();
    if items.len() > MAX_DEPENDENCIES {
        let message = format!("expected at most {MAX_DEPENDENCIES} releases, found {}", items.len());
        rollout.fault(node.place, message, None);
    }
    let read = |(path, node)| dependency(Section::new(rollout.faults(), path, node), node, of);
    items.into_iter().filter_map(read).collect()
}

fn dependency(mut section: Section<'_>, node: &Node, of: &MetricSubject<'_>) -> Option<ReleaseDependency> {
    let name = section.required_parsed::<Label>("name");
    let namespace = section
        .node("namespace")
        .map_or_else(|| of.namespace.parse().ok(), |node| section.parse::<Label>(node));
    let stable = section.required_text("stable");
    let release = namespace.zip(name).map(|(namespace, name)| ReleaseName { namespace, name });
    let is_itself = |release: &ReleaseName| {
        release.namespace.as_str() == of.namespace && release.name.as_str() == of.release
    };
    if release.as_ref().is_some_and(is_itself) {
        section.fault(node.place, "expected another release, found the release itself", None);
    }
    section.finish();
    Some(ReleaseDependency { release: release?, stable: stable? })
}
