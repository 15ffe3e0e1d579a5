//! Whether route objects of others lead requests with our header to the pods of a version: at the release's hosts and gateways, by a
//! match that is reached, to a subset or a Service of these pods alone.
//!
//! # Source
//! Gateway API, `HTTPRouteRule` and `GRPCRouteRule`: of equal matches the first counts.

mod route;

use super::PodLabels;
use super::exposure::fits;
use crate::destination_rule::{CalledService, Client, HostRule, effective, labels};
use crate::object::Reference;
use crate::routing::{
    HostBinding, MESH, ROUTE_KIND, RouteKind, WholeService, http, http_route_bindings, is_granted, is_ours,
    narrower, route_kinds,
};
use crate::spec::{Routes, ServiceHost, resolve};
use route::{Route, binding_of, covers, destinations, has_header, list, routes, rule_routes, rules};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// A version, and what routes to it are compared with.
#[derive(Clone, Copy, Debug)]
pub struct RoutedVersion<'r> {
    /// The hosts of the release; none if they are not known.
    pub hosts: &'r [String],
    /// The gateways that its proxies serve, as route objects name them, and `mesh`.
    pub gateways: &'r BTreeSet<String>,
    /// The Service of the release: namespace and name.
    pub service: (&'r str, &'r str),
    /// The version label, and its value.
    pub label: (&'r str, &'r str),
    /// The value of the routing header.
    pub value: &'r str,
    /// The Services of the namespace.
    pub services: &'r [Value],
    /// The labels of its pods.
    pub pods: &'r [PodLabels],
    /// The `ReferenceGrant`s of the namespace; `None` where no route needs one, or they may not be read.
    pub grants: Option<&'r [Value]>,
    /// The rules in force, and the proxies that go by them.
    pub rules: &'r [HostRule],
    /// These proxies.
    pub clients: &'r [Client],
}

/// The reason why a route object does not lead to a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RouteFault {
    /// The object.
    pub object: Reference,
    /// The reason, after its name.
    pub reason: String,
}

impl fmt::Display for RouteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.object, self.reason)
    }
}

/// The sentence about a version to which no route leads, with what was found of these.
pub fn no_route(routes: Routes, version: &str, faults: &[RouteFault]) -> String {
    let kinds = route_kinds(routes);
    format!("no {kinds} leads to version `{version}` by the filter's header{}", found_of(faults))
}

/// The routes that were found, behind a sentence.
pub(crate) fn found_of(faults: &[RouteFault]) -> String {
    let found: Vec<String> = faults.iter().map(ToString::to_string).collect();
    if found.is_empty() { String::new() } else { format!(": {}", found.join("; ")) }
}

/// A host of the release at a gateway.
type Place = (String, String);

/// The values of our header in the matches of a route object.
pub fn names_header(object: &Value, value: &str) -> bool {
    let in_matches = |rules: &[Value], field: &str| {
        let matches = rules.iter().filter_map(|rule| rule.get(field)?.as_array()).flatten();
        matches.into_iter().any(|one| has_header(one, value))
    };
    in_matches(http(object), "match") || in_matches(rules(object), "matches")
}

impl RoutedVersion<'_> {
    /// The faults of the objects that name the version: none if one leads there, and none leads to the Service past it.
    pub fn faults(&self, objects: &[Value]) -> Vec<RouteFault> {
        let (mut reached, mut faults) = (BTreeSet::new(), Vec::new());
        for (binding, fault) in objects.iter().flat_map(|object| self.candidates(object, objects)) {
            match fault.or_else(|| self.misplaced(&binding)) {
                None => reached.extend(self.places(&binding)),
                Some(reason) => faults.push(RouteFault { object: binding.object, reason }),
            }
        }
        if reached.is_empty() {
            faults.dedup();
            return faults;
        }
        objects
            .iter()
            .filter(|object| !is_ours(object))
            .filter_map(|object| self.left_out(object, &reached))
            .collect()
    }

    /// The hosts and gateways of a route object of Istio that leads to the Service where no object leads to the version.
    fn left_out(&self, object: &Value, reached: &BTreeSet<Place>) -> Option<RouteFault> {
        let binding = HostBinding::of(object)?;
        let namespace = binding.object.namespace.clone();
        let service = ServiceHost::new(self.service.1, self.service.0);
        let leads =
            http(object).iter().flat_map(destinations).any(|(host, _)| service.matches(host, &namespace));
        let missing = self.places(&binding).into_iter().find(|place| !reached.contains(place));
        let (host, gateway) = missing.filter(|_| leads)?;
        let reason = format!(
            "leads to the Service for host `{host}` at `{gateway}`, and no route there names the version"
        );
        Some(RouteFault { object: binding.object, reason })
    }

    /// The alternatives of an object that our header takes: where they answer, and what keeps them from leading to the version.
    fn candidates(&self, object: &Value, all: &[Value]) -> Vec<(HostBinding, Option<String>)> {
        let kind = object.get("kind").and_then(Value::as_str).and_then(RouteKind::of);
        let routes = if kind.is_some() { rule_routes(object) } else { routes(object, all) };
        let mut found = Vec::new();
        for (at, route) in routes.iter().enumerate() {
            let before = routes.get(..at).unwrap_or_default();
            for one in
                route.alternatives.iter().filter(|one| one.iter().any(|part| has_header(part, self.value)))
            {
                let takes = |earlier: &Vec<&Value>| {
                    if kind.is_some() { earlier == one } else { earlier.iter().all(|part| covers(part, one)) }
                };
                let is_shadowed = before.iter().flat_map(|route| &route.alternatives).any(takes);
                let fault = if is_shadowed {
                    Some("has a route before it that takes its requests".to_owned())
                } else if let Some(kind) = kind {
                    self.backend_fault(route, kind)
                } else {
                    self.destination_fault(route)
                };
                let bindings = if kind.is_some() {
                    http_route_bindings(object)
                } else {
                    binding_of(object, one).into_iter().collect()
                };
                found.extend(bindings.into_iter().map(|binding| (binding, fault.clone())));
            }
        }
        found
    }

    /// The hosts and gateways of the release for which an object answers.
    fn places(&self, binding: &HostBinding) -> BTreeSet<Place> {
        let gateways = binding
            .gateways
            .iter()
            .map(|gateway| without_listener(gateway))
            .filter(|name| self.gateways.contains(*name));
        let hosts = |gateway: &str| {
            let own = (gateway == MESH).then(|| ServiceHost::new(self.service.1, self.service.0).fqdn());
            let hosts = self.hosts.iter().cloned().chain(own);
            hosts
                .filter(|host| binding.hosts.iter().any(|other| narrower(other, host).is_some()))
                .collect::<Vec<_>>()
        };
        gateways
            .flat_map(|gateway| hosts(gateway).into_iter().map(move |host| (host, gateway.to_owned())))
            .collect()
    }

    /// The fault of an object that answers for none of these.
    fn misplaced(&self, binding: &HostBinding) -> Option<String> {
        if binding.hosts.is_empty() {
            return Some(format!("has no hosts, and no {ROUTE_KIND} delegates to it"));
        }
        if !self.clients.is_empty()
            && !self.clients.iter().any(|client| binding.rank(&client.namespace).is_some())
        {
            return Some("is not sent to the proxies of the release (`exportTo`)".to_owned());
        }
        let is_served = |gateway: &String| self.gateways.contains(without_listener(gateway));
        if !binding.gateways.iter().any(is_served) {
            return Some(format!(
                "is bound to {}, which no proxy of the release serves",
                listed(&binding.gateways)
            ));
        }
        let is_elsewhere = self.places(binding).is_empty() && !self.hosts.is_empty();
        is_elsewhere
            .then(|| format!("is for host {}, and not for {}", listed(&binding.hosts), listed(self.hosts)))
    }

    fn destination_fault(&self, route: &Route<'_>) -> Option<String> {
        let mut found = destinations(route.body).peekable();
        if found.peek().is_none() {
            return Some("has no destination in that route".to_owned());
        }
        found.find_map(|(host, subset)| {
            let host = resolve(host, route.namespace);
            self.pods_fault(&host, subset)
        })
    }

    fn backend_fault(&self, route: &Route<'_>, kind: RouteKind) -> Option<String> {
        let weighs = |one: &&Value| one.get("weight").and_then(Value::as_u64) != Some(0);
        let mut backends = list(route.body, "backendRefs").iter().filter(weighs).peekable();
        if backends.peek().is_none() {
            return Some("has no backend in that rule".to_owned());
        }
        backends.find_map(|backend| {
            let text = |field: &str| backend.get(field).and_then(Value::as_str);
            let is_service = text("kind").unwrap_or("Service") == "Service"
                && text("group").unwrap_or_default().is_empty();
            let namespace = text("namespace").unwrap_or(route.namespace);
            // What a backend of another kind leads to is not known here.
            let name = text("name").filter(|_| is_service)?;
            let from = (kind.name(), route.namespace);
            let service = WholeService { namespace, name };
            let grants = self.grants.filter(|_| namespace != route.namespace);
            if grants.is_some_and(|grants| !is_granted(from, service, grants)) {
                return Some(format!(
                    "leads to Service `{name}` of `{namespace}`, and no ReferenceGrant lets it"
                ));
            }
            self.pods_fault(&ServiceHost::new(name, namespace).fqdn(), None)
        })
    }

    /// The fault of a destination that is not the pods of the version alone.
    fn pods_fault(&self, host: &str, subset: Option<&str>) -> Option<String> {
        let (label, version) = self.label;
        let is_it = |service: &&Value| {
            let name = service.pointer("/metadata/name").and_then(Value::as_str);
            name.is_some_and(|name| ServiceHost::new(name, self.service.0).fqdn() == host)
        };
        let Some(service) = self.services.iter().find(is_it) else {
            return Some(format!("leads to `{host}`, which is no Service of namespace `{}`", self.service.0));
        };
        let mut wanted = labels(service.pointer("/spec/selector"));
        let selects_none = wanted.is_empty();
        let place =
            subset.map_or_else(|| format!("Service `{host}`"), |name| format!("subset `{name}` of `{host}`"));
        if let Some(name) = subset {
            let called = CalledService { host, namespace: self.service.0 };
            for client in self.clients {
                let rule = effective(self.rules, client, called);
                let Some(found) = rule.as_ref().and_then(|rule| rule.subset(name)) else {
                    return Some(format!(
                        "leads to {place}, which no DestinationRule in force in `{}` has",
                        client.namespace
                    ));
                };
                wanted.extend(labels(found.get("labels")));
            }
        }
        let of_version = self.pods.iter().filter(|pod| pod.get(label).map(String::as_str) == Some(version));
        let of_version = of_version.count();
        let selected: Vec<&PodLabels> =
            self.pods.iter().filter(|pod| !selects_none && fits(&wanted, pod)).collect();
        let is_other = |pod: &&&PodLabels| pod.get(label).map(String::as_str) != Some(version);
        if wanted.get(label).is_some_and(|found| found != version)
            || selected.iter().any(|pod| is_other(&pod))
        {
            return Some(format!("leads to {place}, which selects pods of other versions than `{version}`"));
        }
        let is_empty = selected.is_empty() && (of_version > 0 || selects_none);
        is_empty.then(|| format!("leads to {place}, which selects no pod of version `{version}`"))
    }
}

/// The name of a Gateway without that of a listener or its port.
fn without_listener(gateway: &str) -> &str {
    gateway.split(['#', '@']).next().unwrap_or(gateway)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "no gateway".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
