//! What Istio's objects say about a Service: hosts, gateways, a session cookie.

use crate::discover::{AffinityCookie, Objects};
use crate::spec::ServiceHost;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A gateway as a release names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExistingGateway {
    /// The Gateway object, as `<namespace>/<name>`.
    pub name: String,
    /// The namespace of its pods.
    pub namespace: String,
    /// Its pods' labels.
    pub selector: BTreeMap<String, String>,
    /// Whether a server of the Gateway speaks TLS. Without one, browsers drop `Secure` cookies unless something in front of it does.
    #[serde(skip)]
    pub speaks_tls: bool,
}

impl ExistingGateway {
    /// Whether a server of a Gateway object, or a listener of one of the Gateway API, speaks TLS with its clients.
    ///
    /// # Source
    ///
    /// Istio, *Gateway*, `Port.protocol`: `HTTPS` and `TLS` are; a server with `HTTP` may have `tls.httpsRedirect` alone.
    pub fn has_tls_server(gateway: &Value) -> bool {
        let list = |field: &str| gateway.pointer(field).and_then(Value::as_array).into_iter().flatten();
        let servers = list("/spec/servers").filter_map(|server| server.pointer("/port/protocol")?.as_str());
        let listeners = list("/spec/listeners").filter_map(|listener| listener.get("protocol")?.as_str());
        servers
            .chain(listeners)
            .map(str::to_ascii_uppercase)
            .any(|protocol| matches!(protocol.as_str(), "HTTPS" | "TLS"))
    }
}

/// The routes that lead to a Service from a gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServiceRoutes {
    pub(crate) names: Vec<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) gateways: Vec<String>,
}

/// Those that lead to the Service. Ones for the mesh alone have no host that users type.
pub(crate) fn routes_to(objects: &Objects) -> ServiceRoutes {
    let aliases = service(objects).aliases(&objects.namespace);
    let mut routes = ServiceRoutes::default();
    for body in &objects.route_objects {
        let gateways = texts(body.pointer("/spec/gateways")).into_iter().filter(|gateway| gateway != "mesh");
        let gateways: Vec<String> = gateways.map(|name| qualified(&name, &objects.namespace)).collect();
        if gateways.is_empty() || !leads_to(body, objects) {
            continue;
        }
        routes
            .names
            .push(body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned());
        let hosts = texts(body.pointer("/spec/hosts")).into_iter().filter(|host| !aliases.contains(host));
        routes.hosts.extend(hosts);
        routes.gateways.extend(gateways);
    }
    routes.hosts.sort();
    routes.hosts.dedup();
    routes.gateways.sort();
    routes.gateways.dedup();
    routes
}

/// The cookie on which the first rule for the Service hashes that hashes on one.
///
/// With a `ttl`, 0 included, Envoy sets the cookie itself where a request has none, from the addresses of the connection: users
/// behind one proxy get the same one, and no logout ends it. Such a cookie is no session of the application.
///
/// # Source
/// Istio, *Destination Rule*: `LoadBalancerSettings.ConsistentHashLB.httpCookie`; Envoy, `RouteAction.HashPolicy.Cookie.ttl`.
pub(crate) fn affinity_cookie(objects: &Objects) -> Option<AffinityCookie> {
    let mut rules = objects.destination_rules.iter().filter(|body| {
        let host = body.pointer("/spec/host").and_then(Value::as_str);
        host.is_some_and(|host| is_service(host, objects))
    });
    rules.find_map(|body| {
        let cookie = body.pointer("/spec/trafficPolicy/loadBalancer/consistentHash/httpCookie")?;
        let name = cookie.get("name")?.as_str()?.to_owned();
        let is_minted = cookie.get("ttl").is_some_and(|ttl| !ttl.is_null());
        Some(if is_minted { AffinityCookie::Envoy(name) } else { AffinityCookie::Application(name) })
    })
}

fn leads_to(object: &Value, objects: &Objects) -> bool {
    let routes = object.pointer("/spec/http").and_then(Value::as_array).into_iter().flatten();
    let destinations = routes.filter_map(|route| route.get("route")?.as_array()).flatten();
    let mut hosts = destinations.filter_map(|one| one.pointer("/destination/host")?.as_str());
    hosts.any(|host| is_service(host, objects))
}

fn service(objects: &Objects) -> ServiceHost {
    ServiceHost::new(&objects.name, &objects.namespace)
}

fn is_service(host: &str, objects: &Objects) -> bool {
    service(objects).matches(host, &objects.namespace)
}

fn qualified(name: &str, namespace: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!("{namespace}/{name}") }
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_gateway_speaks_tls_by_the_protocol_of_one_of_its_ports() {
        for (protocols, expected) in [
            (&["HTTP"][..], false),
            (&["HTTP", "HTTP2", "GRPC"], false),
            (&["HTTP", "HTTPS"], true),
            (&["https"], true),
            (&["TLS"], true),
            (&[], false),
        ] {
            let servers: Vec<Value> = protocols
                .iter()
                .map(|protocol| json!({"port": {"number": 80, "protocol": protocol}}))
                .collect();
            let gateway = json!({"spec": {"servers": servers}});
            assert_eq!(ExistingGateway::has_tls_server(&gateway), expected, "{protocols:?}");
        }
    }

    fn objects(route_objects: &Value, destination_rules: &Value) -> Objects {
        Objects {
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            service: Value::Null,
            pods: Vec::new(),
            route_objects: route_objects.as_array().unwrap().clone(),
            destination_rules: destination_rules.as_array().unwrap().clone(),
        }
    }

    #[test]
    fn hosts_and_gateways_are_those_of_the_routes_that_lead_to_the_service() {
        let to = |name: &str, gateways: Value, hosts: Value, host: &str| {
            json!({"metadata": {"name": name}, "spec": {"gateways": gateways, "hosts": hosts,
                "http": [{"route": [{"destination": {"host": host}}]}]}})
        };
        let found = routes_to(&objects(
            &json!([
                to("short", json!(["mesh", "gate"]), json!(["shop.example.com", "web"]), "web"),
                to("long", json!(["in/gate"]), json!(["a.example.com"]), "web.shop.svc.cluster.local"),
                to("inside", json!(["mesh"]), json!(["web"]), "web"),
                to("other", json!(["gate"]), json!(["b.example.com"]), "web.other"),
                to("longer", json!(["gate"]), json!(["c.example.com"]), "web-admin"),
            ]),
            &json!([]),
        ));
        assert_eq!(found.names, ["short", "long"]);
        assert_eq!(found.hosts, ["a.example.com", "shop.example.com"]);
        assert_eq!(found.gateways, ["in/gate", "shop/gate"]);
    }

    #[test]
    fn a_session_cookie_is_the_one_that_keeps_users_on_their_pods() {
        let rule = |host: &str, cookie: Value| {
            json!({"spec": {"host": host, "trafficPolicy": {"loadBalancer": {"consistentHash":
                {"httpCookie": cookie}}}}})
        };
        let found = |rules: Value| affinity_cookie(&objects(&json!([]), &rules));
        let other = rule("other", json!({"name": "NO"}));
        let own = |cookie: Value| json!([other, rule("web.shop.svc.cluster.local", cookie)]);
        assert_eq!(found(own(json!({"name": "SID"}))), Some(AffinityCookie::Application("SID".to_owned())));
        for ttl in ["0s", "3600s"] {
            let minted = found(own(json!({"name": "route", "ttl": ttl})));
            assert_eq!(minted, Some(AffinityCookie::Envoy("route".to_owned())), "ttl {ttl}");
        }
        assert_eq!(found(json!([])), None);
    }
}
