//! Whose objects are not edited without asking: those of Helm and of GitOps tools, which would take our routes out with
//! their next run, and those that anybody but `kubectl` has written.

use super::object::leading;
use super::{Ways, owners};
use crate::manifest::Stage;
use crate::plan::{Error, FIELD_MANAGER, Owners, Plan, Reference};
use crate::spec::Routes;
use serde_json::Value;
use std::collections::BTreeMap;

/// Labels and annotations by which tools know their objects.
pub(in crate::plan) const MARKS: [(&str, &str, &str); 7] = [
    ("annotations", "meta.helm.sh/release-name", "Helm"),
    ("annotations", "argocd.argoproj.io/tracking-id", "Argo CD"),
    ("labels", "argocd.argoproj.io/instance", "Argo CD"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "Flux"),
    ("labels", "helm.toolkit.fluxcd.io/name", "Flux"),
    ("labels", "config.k8s.io/owning-inventory", "a kpt inventory"),
    ("annotations", "kapp.k14s.io/identity", "kapp"),
];

/// Whose an object is, where it is not `kubectl`'s alone.
pub fn tool(object: &Value) -> Option<String> {
    let has = |place: &str, name: &str| object.pointer(&format!("/metadata/{place}"))?.get(name)?.as_str();
    let marked = MARKS.iter().find(|(place, name, _)| has(place, name).is_some());
    let labelled = || has("labels", "app.kubernetes.io/managed-by").filter(|by| *by != FIELD_MANAGER);
    let manager = || {
        let owners = Owners::of(object);
        let other = owners.others(&["spec"]).into_iter().find(|manager| !is_kubectl(manager));
        other.map(str::to_owned)
    };
    marked.map(|(.., tool)| (*tool).to_owned()).or_else(|| labelled().map(str::to_owned)).or_else(manager)
}

/// Whether a field manager is one of those that `kubectl` writes as.
fn is_kubectl(manager: &str) -> bool {
    manager == "kubectl" || manager.starts_with("kubectl-") || manager == "before-first-apply"
}

/// Who writes the routes where the file does not say: whoever owns the `VirtualService` that leads to the Service, and we
/// where there is none. The second says why.
///
/// Fails where `kubectl` alone owns it: that is somebody's handwriting, and theirs to decide.
pub fn choose(ways: &Ways, virtual_services: &[Value]) -> Result<(Routes, Option<String>), Error> {
    let mut by_hand = None;
    for seen in leading(ways, virtual_services) {
        let object = Reference::of(seen)?;
        match tool(seen) {
            Some(owner) => {
                let why = format!("routes: external, because {owner} owns {object}");
                return Ok((Routes::External, Some(why)));
            }
            None => by_hand = Some(object.to_string()),
        }
    }
    by_hand.map_or(Ok((Routes::Own, None)), |object| Err(Error::Undecided { object }))
}

/// Refuses to take the routes of an object that is not `kubectl`'s alone. What was taken once stays ours until its owner
/// writes it again.
pub fn check_edits(plan: &Plan, observed: &BTreeMap<Reference, Value>, take_over: bool) -> Result<(), Error> {
    let edits = plan.changes.iter().filter(|change| change.stage == Stage::Edits && !take_over);
    for (change, seen) in edits.filter_map(|change| Some((change, observed.get(&change.object)?))) {
        judge(&change.object, seen)?;
    }
    Ok(())
}

pub(super) fn judge(object: &Reference, seen: &Value) -> Result<(), Error> {
    match tool(seen).filter(|_| !owners::is_taken(seen)) {
        Some(owner) => Err(Error::NotOurs { object: object.to_string(), owner }),
        None => Ok(()),
    }
}
