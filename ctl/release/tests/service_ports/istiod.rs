//! What istiod makes of routes, as far as ports and our header are concerned.
//!
//! # Source
//! Istio, `pilot/pkg/networking/core/route/route.go`: `translateRoute` (`match.port`, `match.gateways`), `GetDestinationCluster`;
//! `augmentPortMatch` for `HTTPRoute`s whose parent is a Service; [Protocol selection](https://istio.io/latest/docs/ops/configuration/traffic-management/protocol-selection/).

use serde_json::{Value, json};

/// A port of a Service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    pub(crate) number: u16,
    pub(crate) name: &'static str,
}

/// Whether HTTP routes count for a port of this name: a protocol that is not named is detected.
pub(crate) fn is_http(name: &str) -> bool {
    let protocol = name.split('-').next().unwrap_or_default();
    !["tcp", "tls", "https", "mongo", "mysql", "redis", "udp"].contains(&protocol)
}

/// The cluster of a request that arrives at this gateway, or `mesh`, and port, of a Service with these ports. `None` if the object has no
/// route for it.
pub(crate) fn cluster(
    object: &Value,
    (gateway, listen): (&str, u16),
    ports: &[u16],
    header: Option<&str>,
) -> Option<String> {
    let bound = object["spec"]["gateways"].as_array().unwrap();
    bound.iter().find(|bound| *bound == gateway)?;
    let routes = object["spec"]["http"].as_array().unwrap();
    let is_taken = |route: &&Value| match route["match"].as_array() {
        None => true,
        Some(alternatives) => alternatives.iter().any(|one| {
            let is_there =
                |wanted: &Value| wanted.as_array().is_none_or(|all| all.iter().any(|one| one == gateway));
            let wanted = one["headers"]["x-canary-version"]["exact"].as_str();
            let port = one["port"].as_u64();
            is_there(&one["gateways"])
                && port.is_none_or(|port| port == u64::from(listen))
                && wanted.is_none_or(|wanted| header == Some(wanted))
        }),
    };
    let destination = &routes.iter().find(is_taken)?["route"][0]["destination"];
    let called = if let [only] = ports { *only } else { listen };
    let port = destination["port"]["number"].as_u64().unwrap_or_else(|| u64::from(called));
    let host = destination["host"].as_str().unwrap();
    let host = if host.contains('.') { host.to_owned() } else { format!("{host}.shop.svc.cluster.local") };
    Some(format!("outbound|{port}|{}|{host}", destination["subset"].as_str().unwrap_or_default()))
}

/// The `VirtualService` that istiod makes of an `HTTPRoute` with one parent. Its rules are in the order of their precedence already.
pub(crate) fn translated(route: &Value) -> Value {
    let parent = &route["spec"]["parentRefs"][0];
    let is_inside = parent["kind"] == "Service";
    let gateway = if is_inside {
        "mesh".to_owned()
    } else {
        format!("{}/{}", parent["namespace"].as_str().unwrap(), parent["name"].as_str().unwrap())
    };
    let rules = route["spec"]["rules"].as_array().unwrap().iter().map(|rule| {
        let alternatives = rule["matches"].as_array().unwrap().iter().map(|one| {
            let mut translated = json!({});
            if let Some(header) = one["headers"].as_array().and_then(|headers| headers.first()) {
                translated["headers"][header["name"].as_str().unwrap()] = json!({"exact": header["value"]});
            }
            if is_inside && !parent["port"].is_null() {
                translated["port"] = parent["port"].clone();
            }
            translated
        });
        let backend = &rule["backendRefs"][0];
        let host = format!("{}.shop.svc.cluster.local", backend["name"].as_str().unwrap());
        let destination = json!({"host": host, "port": {"number": backend["port"]}});
        json!({"match": alternatives.collect::<Vec<_>>(), "route": [{"destination": destination}]})
    });
    json!({"spec": {"gateways": [gateway], "http": rules.collect::<Vec<_>>()}})
}
