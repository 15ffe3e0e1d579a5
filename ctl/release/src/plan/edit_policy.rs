//! The objects that are not edited without consent: those of Helm and of GitOps tools, which would remove our routes
//! with their next run, and those whose routes have a field manager other than `kubectl`.

use crate::object::{FIELD_MANAGER, Owners, Reference, Stage, TOOL_MARKERS, restore};
use crate::plan::{Error, Plan};
use crate::routing::{RouteTargets, leading};
use crate::spec::Routes;
use serde_json::Value;
use std::collections::BTreeMap;

/// Whose the routes of an object are, where they are not `kubectl`'s alone. A manager that has only other fields does not write them again:
/// one that has left, and whose values `kubectl` has applied since, keeps hosts and gateways.
pub fn owning_tool(object: &Value) -> Option<String> {
    let has = |place: &str, name: &str| object.pointer(&format!("/metadata/{place}"))?.get(name)?.as_str();
    let marked = TOOL_MARKERS.iter().find(|(place, name, _)| has(place, name).is_some());
    let labelled = || has("labels", "app.kubernetes.io/managed-by").filter(|by| *by != FIELD_MANAGER);
    let manager = || {
        let owners = Owners::of(object);
        let other = owners.others(&["spec", "http"]).into_iter().find(|manager| !is_kubectl(manager));
        other.map(str::to_owned)
    };
    marked.map(|(.., tool)| (*tool).to_owned()).or_else(|| labelled().map(str::to_owned)).or_else(manager)
}

/// Whether a field manager is one of those that `kubectl` writes as.
fn is_kubectl(manager: &str) -> bool {
    manager == "kubectl" || manager.starts_with("kubectl-") || manager == "before-first-apply"
}

/// The writer of the routes if the file does not say it: the owner of the route object that leads to the Service, or
/// `canary-ctl` if there is none. The second value is the reason.
///
/// # Errors
///
/// If `kubectl` alone owns it: it is written by hand, so its author has to decide.
pub fn default_routes(
    targets: &RouteTargets,
    route_objects: &[Value],
) -> Result<(Routes, Option<String>), Error> {
    let mut by_hand = None;
    for seen in leading(targets, route_objects) {
        let object = Reference::of(seen)?;
        match owning_tool(seen) {
            Some(owner) => {
                let why = format!("routes: external, because {owner} owns {object}");
                return Ok((Routes::External, Some(why)));
            }
            None => by_hand = Some(object.to_string()),
        }
    }
    by_hand.map_or(Ok((Routes::Managed, None)), |object| Err(Error::Undecided { object }))
}

/// Refuses to take over the routes of an object that `kubectl` does not own alone. Routes that were taken over stay
/// ours until their owner writes them again.
///
/// # Errors
///
/// If a tool owns an object, and `take_ownership` is not set.
pub fn check_edits(
    plan: &Plan,
    observed: &BTreeMap<Reference, Value>,
    take_ownership: bool,
) -> Result<(), Error> {
    let edits = plan.changes.iter().filter(|change| change.stage == Stage::Edits && !take_ownership);
    for (change, seen) in edits.filter_map(|change| Some((change, observed.get(&change.object)?))) {
        check_owner(&change.object, seen)?;
    }
    Ok(())
}

pub(crate) fn check_owner(object: &Reference, seen: &Value) -> Result<(), Error> {
    match owning_tool(seen).filter(|_| !restore::is_taken(seen)) {
        Some(owner) => Err(Error::NotOurs { object: object.to_string(), owner }),
        None => Ok(()),
    }
}
