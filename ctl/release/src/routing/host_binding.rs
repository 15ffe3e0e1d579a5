//! Which route objects answer for a host: the most exact name of it takes it from the others.
//!
//! At a gateway a virtual host is what a server and a route object have in common: where a server names `shop.example.com`, an object for
//! `*.example.com` is one for `shop.example.com`. The objects of one virtual host are merged. Inside the mesh the first of them answers
//! alone.
//!
//! # Source
//! `buildGatewayHTTPRouteConfig`, `initVirtualServices`, `computeWildcardHostVirtualServiceIndex` and `host.Names.Intersection` in
//! istiod; Envoy, [`VirtualHost.domains`](https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto).

use super::texts;
use crate::object::Reference;
use crate::spec::resolve;
use serde_json::Value;
use std::collections::BTreeSet;

/// Istio's name for the sidecars in a list of gateways.
pub(crate) const MESH: &str = "mesh";

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
    created: Option<String>,
}

/// The proxies of a gateway, and the hosts of one of its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayServer {
    /// The Gateway as `namespace/name`.
    pub gateway: String,
    /// The namespace of its pods.
    pub namespace: String,
    /// Hosts, or `namespace/host` for route objects of one namespace.
    pub hosts: Vec<String>,
    /// Its port, if it speaks TLS: a connection goes to the server of that port that names its host most exactly.
    pub tls_port: Option<u64>,
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
    pub(crate) fn new(object: Reference, hosts: Vec<String>, gateways: Vec<String>) -> Self {
        Self { object, hosts, gateways, export_to: Vec::new(), created: None }
    }

    /// That of an object. One without hosts is a delegate: its routes are those of its root.
    pub(crate) fn of(body: &Value) -> Option<Self> {
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
        })
    }

    /// Its rank among the objects that istiod sends to proxies of a namespace; `None` if it is not sent.
    fn rank(&self, namespace: &str) -> Option<u8> {
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

    fn virtual_hosts(&self, server: &GatewayServer) -> BTreeSet<String> {
        let own = server.gateway.split('/').next().unwrap_or_default();
        let hosts = server.hosts.iter().filter_map(|entry| {
            let (namespace, host) = entry.split_once('/').unwrap_or(("*", entry));
            let namespace = if namespace == "." { own } else { namespace };
            (namespace == "*" || namespace == self.object.namespace).then(|| host.to_ascii_lowercase())
        });
        let common = |served: String| self.hosts.iter().filter_map(move |host| narrower(&served, host));
        hosts.flat_map(common).collect()
    }
}

impl GatewayServer {
    /// Whether connections for a host go here and not to another server of the same port.
    fn takes_connections(&self, host: &str, other: &Self) -> bool {
        let is_beside =
            self.tls_port.is_some() && (&self.gateway, self.tls_port) == (&other.gateway, other.tls_port);
        is_beside && self.exactness(host) > other.exactness(host)
    }

    /// The exactness of its name for a host.
    fn exactness(&self, host: &str) -> Option<(bool, usize)> {
        let entries =
            self.hosts.iter().map(|entry| entry.split_once('/').map_or(entry.as_str(), |(_, host)| host));
        let entries = entries.map(str::to_ascii_lowercase);
        let covering = entries.filter(|entry| narrower(entry, host).as_deref() == Some(host));
        covering.map(|entry| (entry == host, entry.len())).max()
    }
}

/// Whether the proxies of one of these namespaces are sent a route object.
pub fn is_sent_to(body: &Value, namespaces: &BTreeSet<String>) -> bool {
    let binding = HostBinding::of(body);
    binding.is_some_and(|binding| namespaces.iter().any(|namespace| binding.rank(namespace).is_some()))
}

/// The hosts that objects of others answer for today, and would not beside ours. `observed` are all route objects, ours as they are now
/// included.
pub fn taken_hosts(ours: &[HostBinding], observed: &[Value], servers: &[GatewayServer]) -> Vec<TakenHost> {
    let observed: Vec<HostBinding> = observed.iter().filter_map(HostBinding::of).collect();
    let is_ours = |object: &Reference| ours.iter().any(|ours| ours.object == *object);
    let mut taken: Vec<TakenHost> = Vec::new();
    for ours in ours {
        let at_gateways = servers.iter().filter(|server| ours.gateways.contains(&server.gateway));
        let mut found: Vec<TakenHost> =
            at_gateways.flat_map(|server| taken_at(ours, &observed, (server, servers))).collect();
        if ours.gateways.iter().any(|gateway| gateway == MESH) {
            found.extend(taken_inside(ours, &observed));
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
    let is_sent =
        |one: &&HostBinding| one.gateways.contains(&server.gateway) && one.rank(&server.namespace).is_some();
    let sent: Vec<(&HostBinding, BTreeSet<String>)> =
        observed.iter().filter(is_sent).map(|one| (one, one.virtual_hosts(server))).collect();
    let reached = |host: &String| !all.iter().any(|other| other.takes_connections(host, server));
    let hosts = ours.virtual_hosts(server).into_iter().filter(reached);
    hosts
        .flat_map(|host| {
            let all =
                sent.iter().flat_map(|(one, hosts)| hosts.iter().map(move |host| (*one, host.as_str())));
            of_wildcard(all, &host)
                .into_iter()
                .map(|(one, wildcard)| TakenHost::of(one, (&host, wildcard), &server.gateway))
                .collect::<Vec<_>>()
        })
        .collect()
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
pub(crate) fn gateways(body: &Value, object: &Reference) -> Vec<String> {
    let mut gateways = texts(body, "gateways");
    if gateways.is_empty() {
        gateways.push(MESH.to_owned());
    }
    let qualified = |gateway: String| {
        if gateway.contains('/') || gateway == MESH {
            gateway
        } else {
            format!("{}/{gateway}", object.namespace)
        }
    };
    gateways.into_iter().map(qualified).collect()
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
