//! Where an `HTTPRoute` answers, in the terms of Istio's route objects: istiod makes such objects of it.
//!
//! # Source
//! `HTTPRouteCollection`, `createURIMatch` and `buildHostnameMatch` in istiod.

use super::gateway_route::{list, name_of};
use super::route_kind::{HTTP_ROUTE_KIND, RouteKind};
use crate::label_selector::matches;
use crate::object::Reference;
use crate::routing::gateway_server::parent_name;
use crate::routing::host_binding::{HostBinding, MESH, RouteStart};
use crate::spec::resolve;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The labels of namespaces, by their names.
pub type NamespaceLabels = BTreeMap<String, Map<String, Value>>;

/// Those of a route: one for the Gateways, and one for each Service that it is for.
pub fn http_route_bindings(route: &Value) -> Vec<HostBinding> {
    let Ok(object) = Reference::of(route) else { return Vec::new() };
    let created = route.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
    let starts: Vec<RouteStart> = list(route.pointer("/spec/rules")).iter().flat_map(starts).collect();
    let binding = |hosts, gateways| {
        let mut binding = HostBinding::new(object.clone(), hosts, gateways, starts.clone());
        binding.created = created.map(str::to_owned);
        binding
    };
    let (mut gateways, mut found) = (Vec::new(), Vec::new());
    let (own, _) = name_of(route);
    for parent in list(route.pointer("/spec/parentRefs")) {
        let text = |field: &str| parent.get(field).and_then(Value::as_str);
        let (namespace, name) = (text("namespace").unwrap_or(&own), text("name").unwrap_or_default());
        match text("kind").unwrap_or("Gateway") {
            "Service" => found.push(binding(vec![resolve(name, namespace)], vec![MESH.to_owned()])),
            "Gateway" => {
                let section = text("sectionName").map_or_else(String::new, |section| format!("#{section}"));
                let port = parent.get("port").map_or_else(String::new, |port| format!("@{port}"));
                gateways.push(parent_name(namespace, name) + &section + &port);
            }
            // Which Gateway has the set is not known here.
            other => gateways.push(format!("{other} {namespace}/{name}")),
        }
    }
    let hosts = list(route.pointer("/spec/hostnames")).iter().filter_map(Value::as_str);
    let mut hosts: Vec<String> = hosts.map(str::to_ascii_lowercase).collect();
    if hosts.is_empty() {
        hosts.push("*".to_owned());
    }
    if found.is_empty() || !gateways.is_empty() {
        found.push(binding(hosts, gateways));
    }
    found
}

/// The hosts of a listener, each for the routes of a namespace. Without known namespaces a selector selects all.
pub(in crate::routing) fn listener_hosts(
    listener: &Value,
    namespace: &str,
    known: &NamespaceLabels,
) -> Vec<String> {
    let kinds = list(listener.pointer("/allowedRoutes/kinds"));
    if !kinds.is_empty() && !kinds.iter().any(|kind| kind.get("kind") == Some(&HTTP_ROUTE_KIND.into())) {
        return Vec::new();
    }
    let host = listener.get("hostname").and_then(Value::as_str).unwrap_or("*");
    match listener.pointer("/allowedRoutes/namespaces/from").and_then(Value::as_str) {
        None | Some("Same") => vec![format!("{namespace}/{host}")],
        Some("None") => Vec::new(),
        Some("Selector") if !known.is_empty() => {
            let selector = listener.pointer("/allowedRoutes/namespaces/selector").unwrap_or(&Value::Null);
            let selected = known.iter().filter(|(_, labels)| matches(selector, labels));
            selected.map(|(namespace, _)| format!("{namespace}/{host}")).collect()
        }
        Some(_) => vec![host.to_owned()],
    }
}

fn starts(rule: &Value) -> Vec<RouteStart> {
    let start = |one: &Value| {
        let path = |field: &str| one.pointer(&format!("/path/{field}")).and_then(Value::as_str);
        let is_regex = path("type") == Some("RegularExpression");
        let prefix = path("value").unwrap_or("/").to_owned();
        let has_more = ["headers", "queryParams", "method"].iter().any(|field| one.get(field).is_some());
        let is_prefix = path("type").unwrap_or("PathPrefix") == "PathPrefix";
        let is_catch_all = is_prefix && prefix == "/" && !has_more;
        RouteStart { prefix: (!is_regex).then_some(prefix), is_catch_all }
    };
    match list(rule.get("matches")) {
        [] => vec![start(&Value::Null)],
        matches => matches.iter().map(start).collect(),
    }
}

/// Whether an object is one of the Gateway API.
pub(in crate::routing) fn is_http_route(object: &Reference) -> bool {
    RouteKind::of(&object.kind).is_some()
}
