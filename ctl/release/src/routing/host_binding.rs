//! Which route objects answer for a host: the most exact name of it takes it from the others.
//!
//! At a gateway a virtual host is what a server and a route object have in common: where a server names `shop.example.com`, an object for
//! `*.example.com` is one for `shop.example.com`. The objects of one virtual host are merged. Inside the mesh the first of them answers
//! alone.
//!
//! # Source
//! `buildGatewayHTTPRouteConfig`, `initVirtualServices`, `computeWildcardHostVirtualServiceIndex` and `host.Names.Intersection` in
//! istiod; Envoy, [`VirtualHost.domains`](https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto).

use super::gateway_api::is_http_route;
use super::gateway_server::GatewayServer;
use super::{http, texts, virtual_service_routes};
use crate::object::Reference;
use crate::spec::resolve;
use serde_json::Value;
use std::collections::BTreeSet;

/// Istio's name for the sidecars in a list of gateways.
pub const MESH: &str = "mesh";

/// The hosts for which a route object answers, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostBinding {
    /// The object.
    pub object: Reference,
    /// Host names and wildcards.
    pub hosts: Vec<String>,
    /// Gateways as `namespace/name`, and `mesh`.
    pub gateways: Vec<String>,
    /// The namespaces whose proxies are sent it: names, `.` and `*`. An empty list means all.
    export_to: Vec<String>,
    pub(super) created: Option<String>,
    routes: Vec<RouteStart>,
}

/// The paths of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteStart {
    /// Their beginning; `None` for a regular expression.
    pub(super) prefix: Option<String>,
    /// Whether it takes everything, and so is tried after all others.
    pub(super) is_catch_all: bool,
}

/// A host that a route object of another owner would lose to one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenHost {
    /// The host.
    pub host: String,
    /// The Gateway as `namespace/name`, or `mesh`.
    pub gateway: String,
    /// The object.
    pub object: Reference,
    /// The wildcard by which it answers for the host.
    pub wildcard: String,
}

impl HostBinding {
    /// One of an object that everybody is sent, and that does not exist yet.
    pub(crate) fn new(
        object: Reference,
        hosts: Vec<String>,
        gateways: Vec<String>,
        routes: Vec<RouteStart>,
    ) -> Self {
        Self { object, hosts, gateways, export_to: Vec::new(), created: None, routes }
    }

    /// That of an object. One without hosts is a delegate: its routes are those of its root.
    pub fn of(body: &Value) -> Option<Self> {
        let object = Reference::of(body).ok()?;
        let resolved = |host: &String| resolve(&host.to_ascii_lowercase(), &object.namespace);
        let hosts = texts(body, "hosts").iter().map(resolved).collect();
        let created = body.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
        let created = created.map(str::to_owned);
        Some(Self {
            hosts,
            gateways: gateways(body, &object),
            export_to: texts(body, "exportTo"),
            object,
            created,
            routes: http(body).iter().flat_map(RouteStart::of).collect(),
        })
    }

    /// Whether requests of another object's routes would be ours. `is_first`: ours are tried before those.
    fn takes_from(&self, other: &Self, is_first: bool) -> bool {
        let is_lost = |theirs: &RouteStart| self.routes.iter().any(|ours| theirs.is_lost_to(ours, is_first));
        other.routes.iter().any(is_lost)
    }

    /// Its rank among the objects that istiod sends to proxies of a namespace; `None` if it is not sent.
    pub(crate) fn rank(&self, namespace: &str) -> Option<u8> {
        let has = |name: &str| self.export_to.iter().any(|other| other == name);
        let is_own = self.object.namespace == namespace;
        if self.export_to.is_empty() || has("*") {
            Some(2)
        } else if is_own && (has(".") || has(namespace)) {
            Some(0)
        } else {
            has(namespace).then_some(1)
        }
    }
}

impl RouteStart {
    /// Those of a path and everything below it.
    pub(crate) fn below(path: &str) -> Self {
        Self { prefix: Some(path.to_owned()), is_catch_all: path == "/" }
    }

    fn of(route: &Value) -> Vec<Self> {
        if virtual_service_routes::is_catch_all(route) {
            return vec![Self::below("/")];
        }
        let matches = route.get("match").and_then(Value::as_array).into_iter().flatten();
        let start = |one: &Value| {
            let uri = |kind: &str| one.pointer(&format!("/uri/{kind}")).and_then(Value::as_str);
            let path = if one.get("uri").is_none() { Some("/") } else { uri("prefix").or(uri("exact")) };
            Self { prefix: path.map(str::to_owned), is_catch_all: false }
        };
        matches.map(start).collect()
    }

    /// Whether all of its requests, as far as is known, would be ours. What takes everything comes last, and ours has the filter's header.
    fn is_lost_to(&self, ours: &Self, is_first: bool) -> bool {
        let is_below = match (&self.prefix, &ours.prefix) {
            (Some(path), Some(ours)) => path.starts_with(ours.as_str()),
            _ => true,
        };
        is_below && (is_first || self.is_catch_all)
    }
}

/// Whether the proxies of one of these namespaces are sent a route object.
pub fn is_sent_to(body: &Value, namespaces: &BTreeSet<String>) -> bool {
    let binding = HostBinding::of(body);
    binding.is_some_and(|binding| namespaces.iter().any(|namespace| binding.rank(namespace).is_some()))
}

/// The hosts that objects of others answer for today, and would not beside ours. `observed` are all route objects, ours as they are now
/// included.
pub fn taken_hosts(
    ours: &[HostBinding],
    observed: &[HostBinding],
    servers: &[GatewayServer],
) -> Vec<TakenHost> {
    let is_ours = |object: &Reference| ours.iter().any(|ours| ours.object == *object);
    let mut taken: Vec<TakenHost> = Vec::new();
    for ours in ours {
        let at_gateways = servers.iter().filter(|server| ours.gateways.contains(&server.gateway));
        let mut found: Vec<TakenHost> =
            at_gateways.flat_map(|server| taken_at(ours, observed, (server, servers))).collect();
        if ours.gateways.iter().any(|gateway| gateway == MESH) {
            found.extend(taken_inside(ours, observed));
        }
        for one in found {
            if !taken.contains(&one) && !is_ours(&one.object) {
                taken.push(one);
            }
        }
    }
    taken
}

fn taken_at(
    ours: &HostBinding,
    observed: &[HostBinding],
    (server, all): (&GatewayServer, &[GatewayServer]),
) -> Vec<TakenHost> {
    let beside = all.iter().filter(|other| other.shares_hosts(server));
    let bound = beside.flat_map(|other| observed.iter().map(move |one| (other, one)));
    let bound = bound.filter(|(other, one)| other.has(one));
    let sent: Vec<(&GatewayServer, &HostBinding, BTreeSet<String>)> =
        bound.map(|(other, one)| (other, one, other.virtual_hosts(one))).collect();
    let is_reached = |host: &String| !all.iter().any(|other| other.takes_connections(host, server));
    let mut taken = Vec::new();
    for host in server.virtual_hosts(ours).into_iter().filter(is_reached) {
        let names = sent.iter().flat_map(|(_, one, hosts)| hosts.iter().map(|host| (*one, host.as_str())));
        let wildcards = of_wildcard(names, &host);
        let has_host = sent.iter().filter(|(_, _, hosts)| hosts.contains(&host));
        let is_there = has_host.clone().any(|(_, one, _)| one.object == ours.object);
        // Those of one Gateway are merged in an order that the plan knows.
        let elsewhere = has_host.filter(|(other, one, _)| {
            !is_there
                && !ours.gateways.contains(&other.gateway)
                && ours.takes_from(one, server.age() < other.age())
        });
        let exact = elsewhere.map(|(_, one, _)| (*one, host.as_str()));
        let found = wildcards.into_iter().chain(exact);
        taken.extend(found.map(|(one, name)| TakenHost::of(one, (&host, name), &server.gateway)));
    }
    taken
}

/// Callers of one namespace are not sent what those of another are.
fn taken_inside(ours: &HostBinding, observed: &[HostBinding]) -> Vec<TakenHost> {
    let mut taken = Vec::new();
    for host in &ours.hosts {
        let covers = |one: &&HostBinding| {
            one.gateways.iter().any(|gateway| gateway == MESH)
                && one.hosts.iter().any(|other| narrower(other, host).as_ref() == Some(host))
        };
        let covering: Vec<&HostBinding> = observed.iter().filter(covers).collect();
        let names_it = |one: &&&HostBinding| one.hosts.contains(host);
        if !covering.iter().filter(names_it).any(|one| one.object == ours.object) {
            let exact = covering.iter().filter(names_it).filter(|one| is_http_route(&one.object));
            taken.extend(exact.map(|one| TakenHost::of(one, (host, host), MESH)));
        }
        let exported = covering.iter().flat_map(|one| one.export_to.iter().map(String::as_str));
        let owners = covering.iter().map(|one| one.object.namespace.as_str());
        // The empty name represents every namespace that no object names.
        for namespace in exported.chain(owners).chain([""]).collect::<BTreeSet<_>>() {
            let sent = covering.iter().filter(|one| one.rank(namespace).is_some());
            let all = sent.flat_map(|one| one.hosts.iter().map(|host| (*one, host.as_str())));
            let answers = of_wildcard(all, host);
            let first = answers.into_iter().min_by_key(|(one, _)| {
                let Reference { name, namespace: of, .. } = &one.object;
                (one.rank(namespace), &one.created, name, of)
            });
            taken.extend(first.map(|(one, wildcard)| TakenHost::of(one, (host, wildcard), MESH)));
        }
    }
    taken
}

/// Those that answer for a host by its longest wildcard; none if one of them names the host itself.
fn of_wildcard<'b>(
    all: impl Iterator<Item = (&'b HostBinding, &'b str)>,
    host: &str,
) -> Vec<(&'b HostBinding, &'b str)> {
    let covering: Vec<_> = all.filter(|(_, other)| narrower(other, host).as_deref() == Some(host)).collect();
    let longest = covering.iter().map(|(_, other)| other.len()).max().unwrap_or_default();
    if covering.iter().any(|(_, other)| *other == host) {
        return Vec::new();
    }
    covering.into_iter().filter(|(_, other)| other.len() == longest).collect()
}

impl TakenHost {
    fn of(binding: &HostBinding, (host, wildcard): (&str, &str), gateway: &str) -> Self {
        let [host, wildcard, gateway] = [host, wildcard, gateway].map(str::to_owned);
        Self { host, gateway, object: binding.object.clone(), wildcard }
    }
}

/// The gateways of a route object, each with its namespace.
fn gateways(body: &Value, object: &Reference) -> Vec<String> {
    let mut gateways = texts(body, "gateways");
    if gateways.is_empty() {
        gateways.push(MESH.to_owned());
    }
    gateways.iter().map(|gateway| gateway_name(gateway, &object.namespace)).collect()
}

/// A Gateway as `namespace/name`, as a route object of a namespace names it: also `name`, `./name`, and the older `name.namespace` and
/// `name.namespace.svc.cluster.local`.
///
/// # Source
/// `resolveGatewayName` in istiod.
pub(crate) fn gateway_name(named: &str, namespace: &str) -> String {
    match (named.split_once('/'), named.split_once('.')) {
        (Some((".", name)), _) => format!("{namespace}/{name}"),
        (Some(_), _) => named.to_owned(),
        (None, _) if named == MESH => named.to_owned(),
        (None, Some((name, rest))) => format!("{}/{name}", rest.split('.').next().unwrap_or(rest)),
        (None, None) => format!("{namespace}/{named}"),
    }
}

/// The intersection of two hosts or wildcards: the narrower one, if the other contains it.
///
/// # Source
/// `host.Name.SubsetOf` in istiod.
pub(crate) fn narrower(one: &str, other: &str) -> Option<String> {
    let contains = |wide: &str, narrow: &str| match wide.strip_prefix('*') {
        Some(suffix) => narrow.strip_prefix('*').unwrap_or(narrow).ends_with(suffix),
        None => wide == narrow,
    };
    if contains(one, other) { Some(other.to_owned()) } else { contains(other, one).then(|| one.to_owned()) }
}
