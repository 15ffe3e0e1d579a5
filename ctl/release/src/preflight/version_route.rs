//! Whether route objects of others lead requests with our header to the pods of a version: at the release's hosts and gateways, by a
//! match that is reached, to a subset or a Service of these pods alone.
//!
//! # Source
//! istiod: `mergeHTTPMatchRequests` (delegates), `translateRoute` (what follows a route that takes everything is left
//! out). Gateway API, `HTTPRouteRule`: of equal matches the first counts.

use super::PodLabels;
use super::exposure::fits;
use crate::destination_rule::{CalledService, Client, HostRule, effective};
use crate::object::Reference;
use crate::routing::{
    HTTP_ROUTE_KIND, HostBinding, MESH, ROUTE_KIND, WholeService, gateway_name, http, http_route_bindings,
    is_granted, is_ours, narrower, route_kinds,
};
use crate::spec::{Routes, ServiceHost, resolve};
use assignment::contract::HeaderNames;
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

/// A route of an object, or of the delegate to which it leads.
struct Route<'o> {
    /// The namespace in which its destinations are named.
    namespace: &'o str,
    body: &'o Value,
    /// Its conditions, one list for each alternative: that of the root, and that of the delegate.
    alternatives: Vec<Vec<&'o Value>>,
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
        let is_http_route = object.get("kind").and_then(Value::as_str) == Some(HTTP_ROUTE_KIND);
        let routes = if is_http_route { rule_routes(object) } else { routes(object, all) };
        let mut found = Vec::new();
        for (at, route) in routes.iter().enumerate() {
            let before = routes.get(..at).unwrap_or_default();
            for one in
                route.alternatives.iter().filter(|one| one.iter().any(|part| has_header(part, self.value)))
            {
                let takes = |earlier: &Vec<&Value>| {
                    if is_http_route { earlier == one } else { earlier.iter().all(|part| covers(part, one)) }
                };
                let is_shadowed = before.iter().flat_map(|route| &route.alternatives).any(takes);
                let fault = if is_shadowed {
                    Some("has a route before it that takes its requests".to_owned())
                } else if is_http_route {
                    self.backend_fault(route)
                } else {
                    self.destination_fault(route)
                };
                let bindings = if is_http_route {
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

    fn backend_fault(&self, route: &Route<'_>) -> Option<String> {
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
            let from = (HTTP_ROUTE_KIND, route.namespace);
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

/// The routes of a route object of Istio, those of its delegates in their places.
fn routes<'o>(object: &'o Value, all: &'o [Value]) -> Vec<Route<'o>> {
    let namespace = namespace_of(object);
    let mut found = Vec::new();
    for body in http(object) {
        let root = alternatives(body, "match");
        let Some(delegate) = body.get("delegate") else {
            found.push(Route { namespace, body, alternatives: root });
            continue;
        };
        let text = |field: &str| delegate.get(field).and_then(Value::as_str);
        let (name, of) = (text("name"), text("namespace").unwrap_or(namespace));
        let is_it = |one: &&Value| {
            one.pointer("/metadata/name").and_then(Value::as_str) == name
                && namespace_of(one) == of
                && one.get("kind") == object.get("kind")
        };
        for body in all.iter().filter(is_it).flat_map(http) {
            let both = root.iter().flat_map(|root| {
                alternatives(body, "match").into_iter().map(|own| [root.clone(), own].concat())
            });
            found.push(Route { namespace: of, body, alternatives: both.collect() });
        }
    }
    // A delegate has no hosts of its own: where it answers its root says.
    let delegates = |root: &Value| {
        http(root).iter().any(|body| {
            let text = |field: &str| body.pointer(&format!("/delegate/{field}")).and_then(Value::as_str);
            text("name") == object.pointer("/metadata/name").and_then(Value::as_str)
                && text("namespace").unwrap_or(namespace_of(root)) == namespace
        })
    };
    if all.iter().any(delegates) { Vec::new() } else { found }
}

fn rule_routes(object: &Value) -> Vec<Route<'_>> {
    let route =
        |body| Route { namespace: namespace_of(object), body, alternatives: alternatives(body, "matches") };
    rules(object).iter().map(route).collect()
}

/// The alternatives of a route; one without conditions where it has none.
fn alternatives<'o>(body: &'o Value, field: &str) -> Vec<Vec<&'o Value>> {
    match list(body, field) {
        [] => vec![vec![&Value::Null]],
        all => all.iter().map(|one| vec![one]).collect(),
    }
}

/// The hosts and gateways of an alternative of a route object of Istio.
fn binding_of(object: &Value, alternative: &[&Value]) -> Option<HostBinding> {
    let mut binding = HostBinding::of(object)?;
    for part in alternative {
        let named = list(part, "gateways").iter().filter_map(Value::as_str);
        let named: Vec<String> = named.map(|name| gateway_name(name, &binding.object.namespace)).collect();
        if !named.is_empty() {
            binding.gateways = named;
        }
        if let Some(host) = part.pointer("/authority/exact").and_then(Value::as_str) {
            binding.hosts = vec![host.to_ascii_lowercase()];
        }
    }
    Some(binding)
}

/// The destinations of a route that get requests.
fn destinations(route: &Value) -> impl Iterator<Item = (&str, Option<&str>)> {
    let all = list(route, "route");
    let gets = move |one: &&Value| {
        all.len() == 1 || one.get("weight").and_then(Value::as_u64).unwrap_or_default() > 0
    };
    all.iter().filter(gets).filter_map(|one| {
        let text = |field: &str| one.get("destination")?.get(field)?.as_str().filter(|text| !text.is_empty());
        Some((text("host")?, text("subset")))
    })
}

/// Whether a match needs this value of our header.
fn has_header(one: &Value, value: &str) -> bool {
    let routing = HeaderNames::default().routing;
    let of_rule = list(one, "headers").iter().any(|header| {
        let text = |field: &str| header.get(field).and_then(Value::as_str);
        text("name").is_some_and(|name| name.eq_ignore_ascii_case(&routing))
            && text("type").unwrap_or("Exact") == "Exact"
            && text("value") == Some(value)
    });
    let found = one.get("headers").and_then(|headers| headers.get(&routing));
    of_rule
        || found.is_some_and(|found| {
            ["exact", "prefix", "regex"]
                .iter()
                .any(|kind| found.get(kind).and_then(Value::as_str) == Some(value))
        })
}

/// Whether every request of an alternative has what a match asks for.
fn covers(part: &Value, alternative: &[&Value]) -> bool {
    let Some(conditions) = part.as_object() else { return true };
    let value = |path: &str| alternative.iter().find_map(|one| one.pointer(path));
    conditions.iter().all(|(field, condition)| match field.as_str() {
        "name" | "statPrefix" | "ignoreUriCase" => true,
        "uri" => takes(condition, value("/uri"), "/"),
        "headers" => condition.as_object().into_iter().flatten().all(|(name, condition)| {
            value(&format!("/headers/{name}")).is_some_and(|found| takes(condition, Some(found), ""))
        }),
        _ => value(&format!("/{field}")) == Some(condition),
    })
}

/// Whether a condition on a text takes every text that another one takes. `every` is the prefix that all have.
fn takes(condition: &Value, other: Option<&Value>, every: &str) -> bool {
    let text = |of: &Value, kind: &str| of.get(kind).and_then(Value::as_str).map(str::to_owned);
    let known = other.and_then(|other| text(other, "exact").or_else(|| text(other, "prefix")));
    let takes_all = text(condition, "regex")
        .is_some_and(|regex| [".*", ".+", "/.*"].contains(&regex.as_str()))
        || condition.as_object().is_some_and(serde_json::Map::is_empty);
    let begins = text(condition, "prefix")
        .is_some_and(|prefix| prefix == every || known.is_some_and(|known| known.starts_with(&prefix)));
    takes_all || begins || Some(condition) == other
}

fn rules(object: &Value) -> &[Value] {
    object.get("spec").map_or(&[], |spec| list(spec, "rules"))
}

fn list<'o>(object: &'o Value, field: &str) -> &'o [Value] {
    object.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn namespace_of(object: &Value) -> &str {
    object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default()
}

fn labels(of: Option<&Value>) -> PodLabels {
    let pairs = of.and_then(Value::as_object).into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
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
