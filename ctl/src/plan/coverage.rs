//! Ways to a Service's pods that a release does not cover: who comes by them is answered by any ready pod, the canary's too,
//! whatever the weight and whoever asks.
//!
//! Only what objects say is refused: a route, an Ingress or a load balancer that leads there was put there to be used. Whether
//! a pod without a sidecar calls the Service no object says; that it could is told, and nobody's mistake.

use super::Reference;
use crate::spec::service_host;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Who comes to a Service, or may come, past our routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The ways that objects say.
    pub gaps: Vec<Gap>,
    /// Pods without a sidecar, which may call the Service.
    pub outsiders: Outsiders,
}

/// Pods of a release's namespace that are not its own and have no sidecar: no route of the mesh counts for what they send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Outsiders(pub Vec<String>);

impl Outsiders {
    /// Whether there are none.
    pub fn is_nobody(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Outsiders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (some, rest) = self.0.split_at(self.0.len().min(3));
        let rest = if rest.is_empty() { "" } else { ", …" };
        let count = self.0.len();
        write!(f, "without a sidecar: {count} other pods of the namespace ({}{rest}); ", some.join(", "))?;
        f.write_str("what they send to the Service gets any version")
    }
}

/// A way to the pods that we do not cover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// The object that leads there.
    pub object: Reference,
    /// What it does.
    pub does: &'static str,
    /// What its owner can do about it.
    pub instead: &'static str,
}

/// A Service, and who leads to it.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'w> {
    /// Its name.
    pub service: &'w str,
    /// Its namespace.
    pub namespace: &'w str,
    /// What leads there: the Service itself, `VirtualService`s, Ingresses.
    pub objects: &'w [Value],
    /// The objects that are ours, or become ours with the next write.
    pub ours: &'w [Reference],
}

/// The ways that lead past our routes.
pub fn gaps(reach: Reach<'_>) -> Vec<Gap> {
    let gap = |body: &Value| {
        let object = Reference::of(body).ok().filter(|object| !reach.ours.contains(object))?;
        let (does, instead) = match object.kind.as_str() {
            "VirtualService" if leads_to_all(body, reach, &object.namespace) => (
                "leads to the Service without a subset",
                "let its route name the subset of the stable version, or have the header routes of the release",
            ),
            "Ingress" if has_backend(body, reach.service) => (
                "leads to the Service past Istio's gateways",
                "let it lead to the gateway, or to a Service that selects the stable version",
            ),
            "Service" if is_balanced(body) => (
                "has a load balancer of its own, past Istio's gateways",
                "make it a ClusterIP, or let the load balancer's Service select the stable version",
            ),
            _ => return None,
        };
        Some(Gap { object, does, instead })
    };
    reach.objects.iter().filter_map(gap).collect()
}

/// Whether one of its routes, of whatever protocol, may end at any pod of the Service. Mirrors answer nobody.
fn leads_to_all(virtual_service: &Value, reach: Reach<'_>, namespace: &str) -> bool {
    let protocols = ["http", "tls", "tcp"].into_iter();
    let routes =
        protocols.filter_map(|protocol| virtual_service.get("spec")?.get(protocol)?.as_array()).flatten();
    let mut destinations = routes.filter_map(|route| route.get("route")?.as_array()).flatten();
    let whole = service_host(reach.service, reach.namespace);
    let is_it = |one: &&Value| {
        let text = |field: &str| one.pointer(&format!("/destination/{field}")).and_then(Value::as_str);
        let host = text("host").unwrap_or_default();
        let is_short = host == reach.service && namespace == reach.namespace;
        let is_unused = one.get("weight").and_then(Value::as_u64) == Some(0);
        (host == whole || is_short) && text("subset").unwrap_or_default().is_empty() && !is_unused
    };
    destinations.any(|one| is_it(&one))
}

fn has_backend(ingress: &Value, service: &str) -> bool {
    let name = |backend: Option<&Value>| backend?.pointer("/service/name")?.as_str().map(str::to_owned);
    let rules = ingress.pointer("/spec/rules").and_then(Value::as_array).into_iter().flatten();
    let paths = rules.filter_map(|rule| rule.pointer("/http/paths")?.as_array()).flatten();
    let mut backends = paths.map(|path| path.get("backend")).chain([ingress.pointer("/spec/defaultBackend")]);
    backends.any(|backend| name(backend).as_deref() == Some(service))
}

fn is_balanced(service: &Value) -> bool {
    service.pointer("/spec/type").and_then(Value::as_str) == Some("LoadBalancer")
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.object, self.does)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(kind: &str, name: &str, spec: &Value) -> Value {
        let (namespace, name) = name.split_once('/').unwrap();
        json!({"apiVersion": "any/v1", "kind": kind, "metadata": {"namespace": namespace, "name": name}, "spec": spec})
    }

    fn found(objects: &[Value], ours: &[Reference]) -> Vec<String> {
        let reach = Reach { service: "shop", namespace: "shop", objects, ours };
        gaps(reach).iter().map(ToString::to_string).collect()
    }

    fn to(protocol: &str, host: &str, subset: Option<&str>) -> Value {
        json!({protocol: [{"route": [{"destination": {"host": host, "subset": subset}}]}]})
    }

    #[test]
    fn a_route_to_the_service_without_a_subset_is_a_gap_whatever_its_protocol_and_spelling() {
        let whole = "shop.shop.svc.cluster.local";
        for (name, spec) in [
            ("shop/a", to("http", "shop", None)),
            ("ingress/a", to("http", whole, None)),
            ("shop/a", to("tls", "shop", None)),
            ("shop/a", to("tcp", whole, None)),
        ] {
            let expected = format!("VirtualService {name} leads to the Service without a subset");
            assert_eq!(found(&[object("VirtualService", name, &spec)], &[]), [expected]);
        }
    }

    #[test]
    fn what_names_a_subset_or_another_service_or_is_ours_is_none() {
        let weighted = json!({"http": [{"route": [
            {"destination": {"host": "shop", "subset": "v1"}, "weight": 100},
            {"destination": {"host": "shop"}, "weight": 0},
        ]}]});
        let mirrored =
            json!({"http": [{"mirror": {"host": "shop"}, "route": [{"destination": {"host": "blog"}}]}]});
        let objects = [
            object("VirtualService", "shop/a", &to("http", "shop", Some("v1"))),
            object("VirtualService", "shop/b", &to("http", "blog", None)),
            object("VirtualService", "ingress/c", &to("http", "shop", None)),
            object("VirtualService", "shop/d", &weighted),
            object("VirtualService", "shop/e", &mirrored),
        ];
        assert_eq!(found(&objects, &[]), [""; 0]);
        let ours = object("VirtualService", "shop/shop-canary", &to("http", "shop", None));
        assert_eq!(found(std::slice::from_ref(&ours), &[Reference::of(&ours).unwrap()]), [""; 0]);
    }

    #[test]
    fn of_many_pods_without_a_sidecar_some_are_named() {
        let outsiders = Outsiders(["a", "b", "c", "d"].map(str::to_owned).to_vec());
        assert_eq!(
            outsiders.to_string(),
            "without a sidecar: 4 other pods of the namespace (a, b, c, …); what they send to the Service gets any version"
        );
    }

    #[test]
    fn an_ingress_and_a_load_balancer_lead_past_the_gateways() {
        let backend = |name: &str| json!({"service": {"name": name, "port": {"number": 80}}});
        let by_path =
            |name: &str| json!({"rules": [{"http": {"paths": [{"path": "/", "backend": backend(name)}]}}]});
        let objects = [
            object("Ingress", "shop/paths", &by_path("shop")),
            object("Ingress", "shop/default", &json!({"defaultBackend": backend("shop")})),
            object("Ingress", "shop/other", &by_path("blog")),
            object("Service", "shop/shop", &json!({"type": "LoadBalancer"})),
            object("Service", "shop/shop", &json!({"type": "ClusterIP"})),
        ];
        let expected = [
            "Ingress shop/paths leads to the Service past Istio's gateways",
            "Ingress shop/default leads to the Service past Istio's gateways",
            "Service shop/shop has a load balancer of its own, past Istio's gateways",
        ];
        assert_eq!(found(&objects, &[]), expected);
    }
}
