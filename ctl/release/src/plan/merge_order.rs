//! Our route object beside those of other owners: which routes Istio tries first.
//!
//! At a gateway the routes of all route objects of a host are merged, the oldest object's first; those that match
//! everything come last, in the same order. Inside the mesh none is merged: the oldest answers alone.
//!
//! # Source
//! Istio, *Traffic Management Best Practices*, "Split large virtual services"; `SortVHostRoutes` and
//! `sortConfigByCreationTime` in istiod.

use crate::object::{Object, Reference, Stage};
use crate::plan::Error;
use crate::routing::{self, MESH, ROUTE_KIND, RouteTargets, virtual_service_routes};
use serde_json::Value;
use std::collections::BTreeMap;

/// The claim of a route object on a host.
struct Claim<'v> {
    /// Creation time, name, namespace: what istiod sorts by. One that is not there yet is the youngest.
    age: (Option<String>, String, String),
    object: String,
    http: &'v [Value],
}

/// The order of routes wherever ours and another owner's share a host, each as a sentence.
///
/// # Errors
///
/// If one of our routes would never be tried.
pub fn order(
    targets: &RouteTargets,
    desired: &[Object],
    observed: &BTreeMap<Reference, Value>,
    route_objects: &[Value],
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for ours in desired.iter().filter(|object| object.stage == Stage::Routes) {
        let age = observed.get(&ours.reference).and_then(created);
        for (host, gateway) in places(targets, &ours.body) {
            let shares = |seen: &&Value| {
                let is_it = Reference::of(seen).is_ok_and(|reference| reference == ours.reference);
                !is_it
                    && !routing::is_ours(seen)
                    && places(targets, seen).contains(&(host.clone(), gateway.clone()))
            };
            let mut claims: Vec<Claim<'_>> = route_objects
                .iter()
                .filter(shares)
                .filter_map(|seen| Claim::of(seen, created(seen)))
                .collect();
            if claims.is_empty() {
                continue;
            }
            claims.extend(Claim::of(&ours.body, age.clone()));
            claims.sort_by(|one, other| sorted(&one.age).cmp(&sorted(&other.age)));
            let ours = ours.reference.to_string();
            check_order(targets, &claims, &ours, (&host, &gateway))?;
            let names: Vec<&str> = claims.iter().map(|claim| claim.object.as_str()).collect();
            notes.push(match gateway.as_str() {
                MESH => format!("{host} inside the mesh: {ours} alone, which is older"),
                _ => format!("{host} at {gateway}: routes of {}", names.join(", then ")),
            });
        }
    }
    Ok(notes)
}

/// An object that does not exist yet comes last.
fn sorted(
    (created, name, namespace): &(Option<String>, String, String),
) -> (bool, &Option<String>, &str, &str) {
    (created.is_none(), created, name, namespace)
}

impl<'v> Claim<'v> {
    fn of(seen: &'v Value, created: Option<String>) -> Option<Self> {
        let Reference { name, namespace, .. } = Reference::of(seen).ok()?;
        let object = format!("{ROUTE_KIND} {namespace}/{name}");
        Some(Self { age: (created, name, namespace), object, http: routing::http(seen) })
    }
}

fn check_order(
    targets: &RouteTargets,
    claims: &[Claim<'_>],
    ours: &str,
    (host, gateway): (&str, &str),
) -> Result<(), Error> {
    let hidden = |by: &Claim<'_>, why: &'static str| Error::Hidden {
        object: ours.to_owned(),
        host: host.to_owned(),
        by: by.object.clone(),
        why,
    };
    let older: Vec<_> = claims.iter().take_while(|claim| claim.object != ours).collect();
    let takes_all = claims
        .iter()
        .any(|claim| claim.object == ours && claim.http.iter().any(virtual_service_routes::is_catch_all));
    for claim in older {
        if gateway == MESH {
            return Err(hidden(claim, "is older, and Istio merges none inside the mesh"));
        }
        for route in claim.http {
            let (leads, catches) = (
                virtual_service_routes::leads_past(route, targets),
                virtual_service_routes::is_catch_all(route),
            );
            if leads {
                return Err(hidden(
                    claim,
                    "is older, and leads to the Service before the filter's header is looked at",
                ));
            }
            if catches && takes_all && !virtual_service_routes::is_stable(route, targets) {
                return Err(hidden(claim, "is older, and takes everything that matches no other route"));
            }
        }
    }
    Ok(())
}

/// Every host of an object, at every gateway. The Service's own name in one spelling.
fn places(targets: &RouteTargets, body: &Value) -> Vec<(String, String)> {
    let Ok(object) = Reference::of(body) else { return Vec::new() };
    let gateways = routing::gateways(body, &object);
    let spelled = |host: &String| {
        if targets.ends_at(host) { targets.service.clone() } else { host.to_ascii_lowercase() }
    };
    let hosts = routing::texts(body, "hosts");
    let pairs =
        hosts.iter().flat_map(|host| gateways.iter().map(move |gateway| (spelled(host), gateway.clone())));
    pairs.collect()
}

fn created(seen: &Value) -> Option<String> {
    seen.pointer("/metadata/creationTimestamp")?.as_str().map(str::to_owned)
}
