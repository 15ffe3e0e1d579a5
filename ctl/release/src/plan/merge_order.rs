//! Our route object beside those of other owners: which routes Istio tries first.
//!
//! At a gateway the routes of all route objects of a host are merged, the oldest object's first; those that match
//! everything come last, in the same order. Inside the mesh none is merged: the oldest answers alone. Objects that are exported to the
//! namespace of the proxies precede those that all are sent.
//!
//! # Source
//! Istio, *Traffic Management Best Practices*, "Split large virtual services"; `SortVHostRoutes`,
//! `sortConfigByCreationTime` and the index of route objects by gateway in istiod.

use crate::object::{Object, Reference, Stage};
use crate::plan::Error;
use crate::routing::{
    self, GatewayServer, HostBinding, MESH, ROUTE_KIND, RouteTargets, virtual_service_routes,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A host of ours at a server of a Gateway, or inside the mesh.
struct Place<'s> {
    host: String,
    gateway: String,
    server: Option<&'s GatewayServer>,
}

/// The claim of a route object on a host.
struct Claim<'v> {
    /// The first part of istiod's order: objects that are private to the namespace of the proxies precede the others.
    rank: u8,
    /// Creation time, name, namespace. One that is not there yet is the youngest.
    age: (Option<String>, String, String),
    object: String,
    http: &'v [Value],
}

/// The order of routes wherever ours and another owner's share a host, each as a sentence. `servers` are those of the Gateways; of a
/// Gateway without one every host is served.
///
/// # Errors
///
/// If one of our routes would never be tried.
pub fn order(
    targets: &RouteTargets,
    desired: &[Object],
    observed: &BTreeMap<Reference, Value>,
    route_objects: &[Value],
    servers: &[GatewayServer],
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for ours in desired.iter().filter(|object| object.stage == Stage::Routes) {
        let Some(binding) = HostBinding::of(&ours.body) else { continue };
        let unknown: Vec<GatewayServer> = binding
            .gateways
            .iter()
            .filter(|gateway| *gateway != MESH)
            .filter(|gateway| !servers.iter().any(|server| server.gateway == **gateway))
            .map(|gateway| GatewayServer::unknown(gateway))
            .collect();
        for place in places(&binding, servers.iter().chain(&unknown)) {
            let is_other = |seen: &&Value| {
                !routing::is_ours(seen)
                    && Reference::of(seen).is_ok_and(|reference| reference != ours.reference)
            };
            let others = route_objects.iter().filter(is_other);
            let mut claims: Vec<Claim<'_>> =
                others.filter_map(|seen| place.claim(seen, &binding.object, created(seen))).collect();
            if claims.is_empty() {
                continue;
            }
            let age = observed.get(&ours.reference).and_then(created);
            claims.extend(place.claim(&ours.body, &binding.object, age));
            claims.sort_by(|one, other| (one.rank, sorted(&one.age)).cmp(&(other.rank, sorted(&other.age))));
            let note = place.note(targets, &claims, &ours.reference.to_string())?;
            if !notes.contains(&note) {
                notes.push(note);
            }
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

impl Place<'_> {
    /// The claim of an object on it, if it has one. `ours` is our object: inside the mesh the callers of its namespace are looked at.
    fn claim<'v>(&self, seen: &'v Value, ours: &Reference, created: Option<String>) -> Option<Claim<'v>> {
        let binding = HostBinding::of(seen)?;
        let is_here = match self.server {
            Some(server) => server.has(&binding) && server.virtual_hosts(&binding).contains(&self.host),
            None => {
                binding.gateways.iter().any(|gateway| gateway == MESH) && binding.hosts.contains(&self.host)
            }
        };
        let rank = binding.rank(self.server.map_or(&ours.namespace, |server| server.namespace()))?;
        let Reference { name, namespace, .. } = binding.object;
        let object = format!("{ROUTE_KIND} {namespace}/{name}");
        is_here.then(|| Claim { rank, age: (created, name, namespace), object, http: routing::http(seen) })
    }

    /// The order as a sentence.
    ///
    /// # Errors
    ///
    /// If one of our routes would never be tried.
    fn note(&self, targets: &RouteTargets, claims: &[Claim<'_>], ours: &str) -> Result<String, Error> {
        let is_service = self.server.is_none() && targets.ends_at(&self.host);
        let host = if is_service { &targets.service } else { &self.host };
        check_order(targets, claims, ours, (host, &self.gateway))?;
        let names: Vec<&str> = claims.iter().map(|claim| claim.object.as_str()).collect();
        Ok(match self.server {
            None => format!("{host} inside the mesh: {ours} alone, which is older"),
            Some(_) => format!("{host} at {}: routes of {}", self.gateway, names.join(", then ")),
        })
    }
}

fn check_order(
    targets: &RouteTargets,
    claims: &[Claim<'_>],
    ours: &str,
    (host, gateway): (&str, &str),
) -> Result<(), Error> {
    let own = claims.iter().find(|claim| claim.object == ours);
    let hidden = |by: &Claim<'_>, why: &str| {
        let is_older = own.is_none_or(|own| sorted(&by.age) < sorted(&own.age));
        let first = if is_older { "is older" } else { "comes first by its `exportTo`" };
        Error::Hidden {
            object: ours.to_owned(),
            host: host.to_owned(),
            by: by.object.clone(),
            why: format!("{first}, and {why}"),
            leads: virtual_service_routes::leads(by.http, targets),
        }
    };
    let older: Vec<_> = claims.iter().take_while(|claim| claim.object != ours).collect();
    let takes_all = claims
        .iter()
        .any(|claim| claim.object == ours && claim.http.iter().any(virtual_service_routes::is_catch_all));
    for claim in older {
        if gateway == MESH {
            return Err(hidden(claim, "Istio merges none inside the mesh"));
        }
        for route in claim.http {
            let (leads, catches) = (
                virtual_service_routes::leads_past(route, targets),
                virtual_service_routes::is_catch_all(route),
            );
            if leads {
                return Err(hidden(claim, "leads to the Service before the filter's header is looked at"));
            }
            if catches && takes_all && !virtual_service_routes::is_stable(route, targets) {
                return Err(hidden(claim, "takes everything that matches no other route"));
            }
        }
    }
    Ok(())
}

/// Every host of an object, at every server of its Gateways and inside the mesh.
fn places<'s>(binding: &HostBinding, servers: impl Iterator<Item = &'s GatewayServer>) -> Vec<Place<'s>> {
    let at = |server: &'s GatewayServer| {
        let hosts = server.virtual_hosts(binding).into_iter();
        hosts.map(|host| Place { host, gateway: server.gateway.clone(), server: Some(server) })
    };
    let mut places: Vec<Place<'s>> = servers.filter(|server| server.has(binding)).flat_map(at).collect();
    if binding.gateways.iter().any(|gateway| gateway == MESH) {
        let inside = |host: &String| Place { host: host.clone(), gateway: MESH.to_owned(), server: None };
        places.extend(binding.hosts.iter().map(inside));
    }
    places
}

fn created(seen: &Value) -> Option<String> {
    seen.pointer("/metadata/creationTimestamp")?.as_str().map(str::to_owned)
}
