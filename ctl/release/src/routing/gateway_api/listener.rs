//! Where a route is attached: listeners of Gateways that admit it, and its hostnames there.
//!
//! # Source
//! Gateway API 1.7.0, `ParentReference` and `HTTPRouteSpec.hostnames`: a parent without `sectionName` and `port` is every listener;
//! a route has the hostnames that are its own and the listener's, the narrower one of each two, or without any those of the
//! listener. Rules with a more specific hostname precede all others, so only those of equal hostnames compete.

use super::binding::NamespaceLabels;
use super::gateway_route::{list, name_of};
use super::route_kind::RouteKind;
use crate::label_selector::matches;
use crate::object::NamespacedName;
use crate::routing::narrower;
use serde_json::Value;
use std::collections::BTreeSet;

const GROUP: &str = "gateway.networking.k8s.io";

/// A Gateway of a release, with its listeners.
#[derive(Clone, Debug)]
pub struct ParentGateway {
    name: NamespacedName,
    listeners: Vec<Listener>,
}

#[derive(Clone, Debug)]
struct Listener {
    name: String,
    port: Option<u64>,
    hostname: String,
    /// Its `allowedRoutes`.
    allowed: Value,
}

/// A listener, by its Gateway and name, and a hostname.
pub(super) type Attachment = (NamespacedName, String, String);

impl ParentGateway {
    /// Reads a `Gateway` of the Gateway API.
    pub fn read(object: &Value) -> Self {
        let listeners = list(object.pointer("/spec/listeners")).iter().map(|listener| {
            let text = |field: &str| listener.get(field).and_then(Value::as_str);
            Listener {
                name: text("name").unwrap_or_default().to_owned(),
                port: listener.get("port").and_then(Value::as_u64),
                hostname: text("hostname").unwrap_or("*").to_ascii_lowercase(),
                allowed: listener.get("allowedRoutes").cloned().unwrap_or_default(),
            }
        });
        Self { name: name_of(object), listeners: listeners.collect() }
    }

    /// Whether a route's reference to a parent is to this Gateway.
    pub(super) fn is_parent(&self, reference: &Value, namespace: &str) -> bool {
        let text = |field: &str| reference.get(field).and_then(Value::as_str);
        text("group").unwrap_or(GROUP) == GROUP
            && text("kind").unwrap_or("Gateway") == "Gateway"
            && text("namespace").unwrap_or(namespace) == self.name.0
            && text("name") == Some(&self.name.1)
    }

    /// Whether a listener admits routes of this kind and namespace; `None` if the namespace's labels decide, and are not known.
    pub(super) fn admits(
        &self,
        listener: &str,
        (kind, namespace): (RouteKind, &str),
        known: &NamespaceLabels,
    ) -> Option<bool> {
        let listener = self.listeners.iter().find(|one| one.name == listener)?;
        listener.admits(&self.name.0, (kind, namespace), known)
    }

    /// Whether it is this one.
    pub(super) fn is(&self, name: &NamespacedName) -> bool {
        self.name == *name
    }
}

impl Listener {
    fn admits(
        &self,
        gateway: &str,
        (kind, namespace): (RouteKind, &str),
        known: &NamespaceLabels,
    ) -> Option<bool> {
        let kinds = list(self.allowed.get("kinds"));
        let is_kind = |one: &Value| one.get("kind").and_then(Value::as_str) == Some(kind.name());
        if !kinds.is_empty() && !kinds.iter().any(is_kind) {
            return Some(false);
        }
        match self.allowed.pointer("/namespaces/from").and_then(Value::as_str) {
            None | Some("Same") => Some(namespace == gateway),
            Some("All") => Some(true),
            Some("None") => Some(false),
            Some(_) => {
                let selector = self.allowed.pointer("/namespaces/selector").unwrap_or(&Value::Null);
                known.get(namespace).map(|labels| matches(selector, labels))
            }
        }
    }
}

/// All of a route. A listener of which it is not known whether it admits the route is among them.
pub(super) fn attachments(
    route: &Value,
    gateways: &[ParentGateway],
    known: &NamespaceLabels,
) -> BTreeSet<Attachment> {
    let mut found = BTreeSet::new();
    let (namespace, _) = name_of(route);
    let kind = RouteKind::of_object(route);
    let own = list(route.pointer("/spec/hostnames"));
    for reference in list(route.pointer("/spec/parentRefs")) {
        for gateway in gateways.iter().filter(|gateway| gateway.is_parent(reference, &namespace)) {
            let admits = |listener: &&Listener| {
                listener.admits(&gateway.name.0, (kind, &namespace), known) != Some(false)
            };
            let listeners = gateway.listeners.iter().filter(|listener| is_section(reference, listener));
            for listener in listeners.filter(admits) {
                for hostname in hostnames(own, &listener.hostname) {
                    found.insert((gateway.name.clone(), listener.name.clone(), hostname));
                }
            }
        }
    }
    found
}

fn is_section(reference: &Value, listener: &Listener) -> bool {
    let section = reference.get("sectionName").and_then(Value::as_str);
    let port = reference.get("port").and_then(Value::as_u64);
    section.is_none_or(|name| name == listener.name) && (port.is_none() || port == listener.port)
}

fn hostnames(own: &[Value], listener: &str) -> Vec<String> {
    if own.is_empty() {
        return vec![listener.to_owned()];
    }
    let own = own.iter().filter_map(Value::as_str).map(str::to_ascii_lowercase);
    own.filter_map(|host| narrower(&host, listener)).collect()
}
