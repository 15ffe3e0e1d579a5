//! Routes to a Service's pods that bypass the release: their requests reach any ready pod, the canary's included,
//! whatever the weight and the user.
//!
//! Only what objects define is refused: a route, an Ingress or a load balancer that leads to the Service is there to be
//! used. No object says whether a pod without a sidecar calls the Service; that it could is reported, not refused.

use super::gateway_api::{
    GATEWAY_API_GROUP, HTTP_ROUTE_KIND, OTHER_ROUTE_KINDS, WholeService, is_granted, leads_to_whole_service,
};
use super::{HostBinding, MESH, ROUTE_KIND};
use crate::object::Reference;
use crate::spec::ServiceHost;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// Clients that reach a Service, or can reach it, without our routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The bypasses that objects define.
    pub gaps: Vec<Gap>,
    /// Pods without a sidecar, which may call the Service.
    pub unmeshed_pods: UnmeshedPods,
    /// Ambient pods, which may call it too.
    pub ambient_pods: AmbientPods,
}

/// Pods of a release's namespace that are not its own and have no sidecar: no route of the mesh counts for what they send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UnmeshedPods(pub Vec<String>);

impl UnmeshedPods {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for UnmeshedPods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "without a sidecar: {}; ", other_pods(&self.0))?;
        f.write_str("what they send to the Service gets any version")
    }
}

/// Pods of a release's namespace that are not its own and ambient: no `EnvoyFilter` applies to what takes their requests into the
/// mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AmbientPods(pub Vec<String>);

impl AmbientPods {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for AmbientPods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ambient: {}; ", other_pods(&self.0))?;
        f.write_str(
            "EnvoyFilters and routes to subsets do not apply to ztunnel, nor EnvoyFilters to waypoints: what they send to the Service gets any version",
        )
    }
}

/// Some of these pods by their names.
fn other_pods(pods: &[String]) -> String {
    let (some, rest) = pods.split_at(pods.len().min(3));
    let rest = if rest.is_empty() { "" } else { ", …" };
    let noun = if pods.len() == 1 { "pod" } else { "pods" };
    format!("{} other {noun} of the namespace ({}{rest})", pods.len(), some.join(", "))
}

/// A route to the pods that bypasses the release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// The object that leads there.
    pub object: Reference,
    /// Its effect.
    pub bypass: Bypass,
    /// The other Service of the same pods to which it leads; `None` for that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_service: Option<String>,
}

/// A way of an object to the pods without our routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Bypass {
    /// A `VirtualService` leads to the Service without a subset.
    WholeService,
    /// A route of the Gateway API leads to the Service.
    HttpRoute,
    /// An Ingress leads to the Service.
    Ingress,
    /// The Service has a load balancer of its own.
    LoadBalancer,
}

/// A Service, and the objects that lead to it.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'w> {
    /// Its name.
    pub service: &'w str,
    /// Other Services of the same pods.
    pub others: &'w [String],
    /// Its namespace.
    pub namespace: &'w str,
    /// The objects that lead there: the Service itself, `VirtualService`s, routes of the Gateway API, Ingresses.
    pub objects: &'w [Value],
    /// The `ReferenceGrant`s of that namespace; `None` if they may not be read.
    pub grants: Option<&'w [Value]>,
    /// The namespaces of the release's proxies.
    pub proxies: &'w BTreeSet<String>,
    /// Our objects, including those of the next write.
    pub ours: &'w [Reference],
}

/// The routes that bypass ours.
pub fn gaps(reach: Reach<'_>) -> Vec<Gap> {
    let gap = |body: &Value| {
        let object = Reference::of(body).ok().filter(|object| !reach.ours.contains(object))?;
        let mut services = std::iter::once(reach.service).chain(reach.others.iter().map(String::as_str));
        let (service, bypass) = services.find_map(|service| {
            let called = WholeService { namespace: reach.namespace, name: service };
            let bypass = bypass(body, &object, called)?;
            reach.is_in_effect(body, &object, called).then_some((service, bypass))
        })?;
        let other_service = (service != reach.service).then(|| service.to_owned());
        Some(Gap { object, bypass, other_service })
    };
    reach.objects.iter().filter_map(gap).collect()
}

impl Reach<'_> {
    /// Whether an object that leads to a Service takes requests there: a route of another namespace needs a grant, and a
    /// `VirtualService` of gateways must be sent to them.
    fn is_in_effect(&self, body: &Value, object: &Reference, called: WholeService<'_>) -> bool {
        if object.api_version.starts_with(GATEWAY_API_GROUP) {
            let from = (object.kind.as_str(), object.namespace.as_str());
            let grants = self.grants.filter(|_| object.namespace != called.namespace);
            return grants.is_none_or(|grants| is_granted(from, called, grants));
        }
        let binding = HostBinding::of(body).filter(|_| object.kind == ROUTE_KIND);
        binding.is_none_or(|binding| {
            binding.gateways.iter().any(|gateway| {
                let own = gateway.split('/').next().unwrap_or_default();
                let mut namespaces = self.proxies.iter().map(String::as_str).chain([own]);
                gateway == MESH || namespaces.any(|namespace| binding.rank(namespace).is_some())
            })
        })
    }
}

/// The way of an object to a Service, if it leads there.
fn bypass(body: &Value, object: &Reference, called: WholeService<'_>) -> Option<Bypass> {
    let is_near = object.namespace == called.namespace;
    match object.kind.as_str() {
        "VirtualService" if leads_to_all(body, called, &object.namespace) => Some(Bypass::WholeService),
        kind if is_route_kind(kind) && leads_to_whole_service(body, called) => Some(Bypass::HttpRoute),
        "Ingress" if is_near && has_backend(body, called.name) => Some(Bypass::Ingress),
        "Service" if is_near && object.name == called.name && is_balanced(body) => Some(Bypass::LoadBalancer),
        _ => None,
    }
}

/// Whether a kind is one of the routes of the Gateway API.
fn is_route_kind(kind: &str) -> bool {
    kind == HTTP_ROUTE_KIND || OTHER_ROUTE_KINDS.iter().any(|(other, _)| *other == kind)
}

/// Whether one of its routes, of any protocol, can lead to any pod of the Service. Mirrors do not count: their
/// responses are discarded.
fn leads_to_all(object: &Value, called: WholeService<'_>, namespace: &str) -> bool {
    let protocols = ["http", "tls", "tcp"].into_iter();
    let routes = protocols.filter_map(|protocol| object.get("spec")?.get(protocol)?.as_array()).flatten();
    let mut destinations = routes.filter_map(|route| route.get("route")?.as_array()).flatten();
    let service = ServiceHost::new(called.name, called.namespace);
    let is_it = |one: &&Value| {
        let text = |field: &str| one.pointer(&format!("/destination/{field}")).and_then(Value::as_str);
        let host = text("host").unwrap_or_default();
        let is_unused = one.get("weight").and_then(Value::as_u64) == Some(0);
        service.matches(host, namespace) && text("subset").unwrap_or_default().is_empty() && !is_unused
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
        write!(f, "{} {}", self.object, self.bypass)?;
        match &self.other_service {
            Some(service) if self.bypass != Bypass::LoadBalancer => {
                write!(f, ": to Service `{service}`, which selects the same pods")
            }
            Some(_) => f.write_str(", and selects the same pods"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WholeService => "leads to the Service without a subset",
            Self::HttpRoute => "leads to the Service, and not to that of a version",
            Self::Ingress => "leads to the Service past Istio's gateways",
            Self::LoadBalancer => "has a load balancer of its own, past Istio's gateways",
        })
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
        let proxies = BTreeSet::from(["ingress".to_owned()]);
        let (service, namespace) = ("shop", "shop");
        let grants = objects.iter().filter(|object| object["kind"] == "ReferenceGrant").cloned();
        let grants: Vec<Value> = grants.collect();
        let grants = Some(&*grants);
        let reach = Reach { service, others: &[], namespace, objects, grants, proxies: &proxies, ours };
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
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn a_route_of_any_kind_bypasses_where_it_takes_requests() {
        let route = |kind: &str, namespace: &str, backend: &str| {
            let mut object = object(
                kind,
                &format!("{namespace}/a"),
                &json!({
                "rules": [{"backendRefs": [{"name": backend, "namespace": "shop", "port": 80}]}]}),
            );
            object["apiVersion"] = json!("gateway.networking.k8s.io/v1");
            object
        };
        let grant = |kind: &str, namespace: &str, to: Value| {
            let group = "gateway.networking.k8s.io";
            object(
                "ReferenceGrant",
                "shop/grant",
                &json!({
                "from": [{"group": group, "kind": kind, "namespace": namespace}], "to": [to]}),
            )
        };
        let every = || json!({"group": "", "kind": "Service"});
        let exported = |gateways: &[&str], to: &[&str]| {
            let mut spec = to_whole();
            spec["gateways"] = json!(gateways);
            spec["exportTo"] = json!(to);
            vec![object("VirtualService", "web/a", &spec)]
        };
        let rows = [
            ("gRPC", vec![route("GRPCRoute", "shop", "shop")], true),
            ("TCP", vec![route("TCPRoute", "shop", "shop")], true),
            ("TLS", vec![route("TLSRoute", "shop", "shop")], true),
            ("another Service", vec![route("GRPCRoute", "shop", "blog")], false),
            ("no grant", vec![route("HTTPRoute", "web", "shop")], false),
            ("a grant", vec![route("HTTPRoute", "web", "shop"), grant("HTTPRoute", "web", every())], true),
            (
                "of another kind",
                vec![route("HTTPRoute", "web", "shop"), grant("TCPRoute", "web", every())],
                false,
            ),
            (
                "of another namespace",
                vec![route("HTTPRoute", "web", "shop"), grant("HTTPRoute", "x", every())],
                false,
            ),
            (
                "to another Service",
                vec![
                    route("HTTPRoute", "web", "shop"),
                    grant("HTTPRoute", "web", json!({"group": "", "kind": "Service", "name": "blog"})),
                ],
                false,
            ),
            ("not sent to the gateway", exported(&["ingress/gateway"], &["."]), false),
            ("sent to the gateway", exported(&["ingress/gateway"], &["ingress"]), true),
            ("sent to a gateway of its namespace", exported(&["web/own"], &["."]), true),
            ("sent to all", exported(&["ingress/gateway"], &["*"]), true),
            ("sent to callers of its namespace", exported(&["mesh"], &["."]), true),
        ];
        for (what, objects, is_gap) in rows {
            assert_eq!(found(&objects, &[]).len(), usize::from(is_gap), "{what}: {:?}", found(&objects, &[]));
        }
    }

    fn to_whole() -> Value {
        to("http", "shop.shop.svc.cluster.local", None)
    }

    #[test]
    fn of_many_pods_without_a_sidecar_some_are_named() {
        let unmeshed_pods = UnmeshedPods(["a", "b", "c", "d"].map(str::to_owned).to_vec());
        assert_eq!(
            unmeshed_pods.to_string(),
            "without a sidecar: 4 other pods of the namespace (a, b, c, …); what they send to the Service gets any version"
        );
    }

    #[test]
    fn ambient_pods_are_told_apart_from_pods_without_a_sidecar() {
        assert_eq!(
            AmbientPods(vec!["cron".to_owned()]).to_string(),
            "ambient: 1 other pod of the namespace (cron); EnvoyFilters and routes to subsets do not apply to ztunnel, nor EnvoyFilters to waypoints: what they send to the Service gets any version"
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
