//! A server of a Gateway: its hosts, and the servers beside it at the same port of the same proxies.
//!
//! # Source
//! `mergeGateways`, `sanitizeServerHostNamespace` and `NamesForNamespace` in istiod: servers of plain HTTP at one port share their
//! virtual hosts, those of the older Gateway first; each server with TLS has its own. `buildHostnameMatch`: a listener of the Gateway API
//! is a server for the namespaces of `allowedRoutes`. `extractGatewayServices`.

use super::MESH;
use super::gateway_api::{GATEWAY_API, NamespaceLabels, listener_hosts};
use super::host_binding::{HostBinding, narrower};
use crate::object::Reference;
use crate::spec::Selector;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The proxies of a gateway, and the hosts of one of its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayServer {
    /// The Gateway as `namespace/name`; one of the Gateway API has a prefix, so that it is never one of Istio.
    pub gateway: String,
    /// The listener's name, if it is one of the Gateway API.
    listener: Option<String>,
    /// Its pods: their namespace, and the labels by which the release selects them.
    pods: (String, BTreeMap<String, String>),
    /// The creation time of the Gateway; an older one comes first.
    created: Option<String>,
    /// Hosts, or `namespace/host` for route objects of one namespace.
    hosts: Vec<String>,
    port: Option<u64>,
    is_tls: bool,
    passes_on: bool,
}

const ISTIO: &str = "networking.istio.io/v1";
/// Before the name of a Gateway of the Gateway API, because one of Istio may have the same.
const PARENT: &str = "HTTPRoute ";

/// The name of a Gateway of the Gateway API among those of Istio.
pub(crate) fn parent_name(namespace: &str, name: &str) -> String {
    format!("{PARENT}{namespace}/{name}")
}

/// Whether what a route is bound to is neither a Gateway nor the mesh, as a set of listeners.
pub fn is_of_unknown_kind(bound: &str) -> bool {
    bound.contains(' ') && !bound.starts_with(PARENT)
}

/// The name of a Gateway as bindings have it, of whichever API.
pub fn bound_name(gateway: &Reference) -> String {
    match gateway.api_version.as_str() {
        GATEWAY_API => parent_name(&gateway.namespace, &gateway.name),
        _ => format!("{}/{}", gateway.namespace, gateway.name),
    }
}

/// The Gateways to which routes for one of these hosts are bound.
pub fn gateways_for(hosts: &[String], bindings: &[HostBinding]) -> BTreeSet<Reference> {
    let shares = |binding: &&HostBinding| {
        binding.hosts.iter().any(|one| hosts.iter().any(|host| narrower(one, host).is_some()))
    };
    let gateway = |gateway: &String| {
        let (version, name) =
            gateway.strip_prefix(PARENT).map_or((ISTIO, gateway.as_str()), |name| (GATEWAY_API, name));
        let (namespace, name) = name.split_once('/')?;
        let name = name.split(['#', '@']).next().unwrap_or(name);
        Some(Reference::new(version, "Gateway", namespace, name))
    };
    let named = bindings.iter().filter(shares).flat_map(|binding| &binding.gateways);
    named.filter(|gateway| *gateway != MESH && !is_of_unknown_kind(gateway)).filter_map(gateway).collect()
}

impl GatewayServer {
    /// Those of a Gateway of Istio, at these pods. One that was not found serves every host.
    pub fn of_istio(gateway: &str, pods: &Selector, object: Option<&Value>) -> Vec<Self> {
        let every = json!({"hosts": ["*"]});
        let servers = object.map(|object| object.pointer("/spec/servers").and_then(Value::as_array));
        let servers = servers.map_or(vec![&every], |found| found.into_iter().flatten().collect());
        let hosts = |server: &Value| {
            let hosts = server.get("hosts").and_then(Value::as_array).into_iter().flatten();
            hosts.filter_map(|host| host.as_str().map(str::to_owned)).collect()
        };
        let server = |found: &Value| {
            let port = found.get("port");
            let protocol = port.and_then(|port| port.get("protocol"));
            let number = port.and_then(|port| port.get("number"));
            Self {
                gateway: gateway.to_owned(),
                listener: None,
                pods: (pods.namespace.to_string(), pods.labels.clone()),
                created: created(object),
                hosts: hosts(found),
                port: number.and_then(Value::as_u64),
                is_tls: is_tls(protocol),
                passes_on: passes_on(protocol, found),
            }
        };
        servers.into_iter().map(server).collect()
    }

    /// One of a Gateway of which nothing is known but its name.
    pub(crate) fn unknown(gateway: &str) -> Self {
        let namespace = gateway.split('/').next().unwrap_or_default();
        Self {
            gateway: gateway.to_owned(),
            listener: None,
            pods: (namespace.to_owned(), BTreeMap::new()),
            created: None,
            hosts: vec!["*".to_owned()],
            port: None,
            is_tls: false,
            passes_on: false,
        }
    }

    /// Those of a Gateway of the Gateway API, at these pods.
    /// `namespaces` are those of routes, if a listener selects them by labels.
    pub fn of_gateway_api(object: &Value, pods: &Selector, namespaces: &NamespaceLabels) -> Vec<Self> {
        let text = |field: &str| object.pointer(field).and_then(Value::as_str).unwrap_or_default();
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let listeners = object.pointer("/spec/listeners").and_then(Value::as_array).into_iter().flatten();
        let server = |found: &Value| Self {
            gateway: parent_name(namespace, name),
            listener: found.get("name").and_then(Value::as_str).map(str::to_owned),
            pods: (pods.namespace.to_string(), pods.labels.clone()),
            created: created(Some(object)),
            hosts: listener_hosts(found, namespace, namespaces),
            port: found.get("port").and_then(Value::as_u64),
            is_tls: is_tls(found.get("protocol")),
            passes_on: passes_on(found.get("protocol"), found),
        };
        listeners.map(server).collect()
    }

    /// The Gateway, as `namespace/name`.
    pub(crate) fn name(&self) -> &str {
        self.gateway.strip_prefix(PARENT).unwrap_or(&self.gateway)
    }

    /// The namespace of its pods.
    pub(crate) fn namespace(&self) -> &str {
        &self.pods.0
    }

    /// Whether a route object is bound to it.
    pub(crate) fn has(&self, binding: &HostBinding) -> bool {
        let is_it = |bound: &String| {
            let (bound, port) =
                bound.split_once('@').map_or((bound.as_str(), None), |(bound, port)| (bound, Some(port)));
            let (bound, section) =
                bound.split_once('#').map_or((bound, None), |(bound, section)| (bound, Some(section)));
            *bound == self.gateway
                && section.is_none_or(|section| self.listener.as_deref() == Some(section))
                && port.is_none_or(|port| port.parse().ok() == self.port)
        };
        binding.gateways.iter().any(is_it) && binding.rank(self.namespace()).is_some()
    }

    /// The virtual hosts of a route object at this server: the hosts that both have, for its namespace.
    pub(crate) fn virtual_hosts(&self, binding: &HostBinding) -> BTreeSet<String> {
        let own = self.gateway.split('/').next().unwrap_or_default();
        let hosts = self.hosts.iter().filter_map(|entry| {
            let (namespace, host) = entry.split_once('/').unwrap_or(("*", entry));
            let namespace = if namespace == "." { own } else { namespace };
            (namespace == "*" || namespace == binding.object.namespace).then(|| host.to_ascii_lowercase())
        });
        let common = |served: String| binding.hosts.iter().filter_map(move |host| narrower(&served, host));
        hosts.flat_map(common).collect()
    }

    /// Whether both have one set of virtual hosts.
    pub(crate) fn shares_hosts(&self, other: &Self) -> bool {
        self == other
            || (!self.is_tls && !other.is_tls && (&self.pods, self.port) == (&other.pods, other.port))
    }

    /// Whether connections for a host go here and not to another server of the same port: by the most exact name of it.
    pub(crate) fn takes_connections(&self, host: &str, other: &Self) -> bool {
        let is_beside = self.is_tls && other.is_tls && (&self.pods, self.port) == (&other.pods, other.port);
        is_beside && self.exactness(host) > other.exactness(host)
    }

    /// Whether connections for a host that the other server has come here: this one names it more exactly, or names it too and is of an
    /// older Gateway.
    pub(crate) fn precedes(&self, host: &str, other: &Self) -> bool {
        let is_beside = self.is_tls && other.is_tls && (&self.pods, self.port) == (&other.pods, other.port);
        let (exactness, others) = (self.exactness(host), other.exactness(host));
        let is_older = exactness == others && self.age() < other.age();
        is_beside && others.is_some() && (exactness > others || is_older)
    }

    /// Whether it passes connections on: no filter reads their requests.
    pub(crate) const fn passes_on(&self) -> bool {
        self.passes_on
    }

    /// The order in which istiod merges Gateways.
    pub(crate) fn age(&self) -> (bool, &Option<String>, &str) {
        (self.created.is_none(), &self.created, &self.gateway)
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

fn created(object: Option<&Value>) -> Option<String> {
    object?.pointer("/metadata/creationTimestamp")?.as_str().map(str::to_owned)
}

fn passes_on(protocol: Option<&Value>, server: &Value) -> bool {
    let text = |found: Option<&Value>| found.and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase();
    text(protocol) == "TLS" || text(server.pointer("/tls/mode")).ends_with("PASSTHROUGH")
}

fn is_tls(protocol: Option<&Value>) -> bool {
    let protocol = protocol.and_then(Value::as_str).unwrap_or_default();
    ["HTTPS", "TLS"].iter().any(|tls| protocol.eq_ignore_ascii_case(tls))
}
