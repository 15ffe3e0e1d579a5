//! The objects that each version of a release has for itself beside routes of others: a Service, its `DestinationRule`, and routes.
//!
//! Those of one version do not change with another version that comes or leaves.

use super::route_kind::RouteKind;
use crate::object::{FIELD_MANAGER, Reference};
use crate::spec::{MANAGED_BY, version_subset};
use serde_json::{Map, Value, json};

const PORT_FIELDS: [&str; 5] = ["name", "port", "protocol", "targetPort", "appProtocol"];
/// The fields of a Service by which its endpoints are selected or ordered.
const ENDPOINT_FIELDS: [&str; 2] = ["publishNotReadyAddresses", "trafficDistribution"];

/// A version of a release, for the names of its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VersionName<'v> {
    /// The release's name, without its namespace.
    pub(crate) release: &'v str,
    /// The plain Service.
    pub(crate) service: &'v str,
    /// The version.
    pub(crate) version: &'v str,
}

impl VersionName<'_> {
    /// The Service of the version.
    pub(crate) fn service(&self) -> String {
        format!("{}-{}", self.service, version_subset(self.version))
    }

    /// Its `DestinationRule`; its routes have this name and a number. No name of a release or of a version has a dot.
    pub(crate) fn object(&self) -> String {
        format!("{}-canary.{}", self.release, version_subset(self.version))
    }

    /// Whether an object in the release's namespace is one of the version's.
    pub(crate) fn has(&self, object: &Reference) -> bool {
        match object.kind.as_str() {
            "Service" => object.name == self.service(),
            "DestinationRule" => object.name == self.object(),
            kind => RouteKind::of(kind)
                .is_some_and(|kind| is_numbered(&object.name, &kind.prefix(&self.object()))),
        }
    }

    /// Its Service: the plain one's ports, and its selector with the version label.
    pub(crate) fn service_object(&self, plain: &Value, label: &str) -> Value {
        let field = |name: &str| plain.pointer("/spec")?.get(name).cloned();
        let mut selector = field("selector").unwrap_or_else(|| json!({}));
        if let Some(labels) = selector.as_object_mut() {
            labels.insert(label.to_owned(), self.version.into());
        }
        let ports = field("ports").unwrap_or_else(|| json!([]));
        let ports: Vec<Value> = ports.as_array().into_iter().flatten().map(port).collect();
        let mut spec =
            Map::from_iter([("selector".to_owned(), selector), ("ports".to_owned(), ports.into())]);
        spec.extend(ENDPOINT_FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), field(name)?))));
        body(plain, ("v1", "Service"), &self.service(), &spec.into())
    }

    /// Its `DestinationRule` with the settings of the plain Service.
    pub(crate) fn rule_object(&self, plain: &Value, host: &str, policy: &Value) -> Value {
        let spec = json!({"host": host, "trafficPolicy": policy});
        body(plain, ("networking.istio.io/v1", "DestinationRule"), &self.object(), &spec)
    }
}

/// An object of ours in the plain Service's namespace.
fn body(plain: &Value, (api_version, kind): (&str, &str), name: &str, spec: &Value) -> Value {
    let namespace = plain.pointer("/metadata/namespace");
    json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"namespace": namespace, "name": name, "labels": {MANAGED_BY: FIELD_MANAGER}},
        "spec": spec})
}

/// Whether a name is this one with a number of two digits.
pub(super) fn is_numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
    number.is_some_and(|number| number.len() == 2 && number.bytes().all(|digit| digit.is_ascii_digit()))
}

fn port(port: &Value) -> Value {
    let fields = port.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, _)| PORT_FIELDS.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: VersionName<'_> = VersionName { release: "shop", service: "web", version: "1.2" };

    #[test]
    fn a_version_has_a_service_a_rule_and_routes_and_none_of_another_release() {
        let is_its = |kind: &str, name: &str| V2.has(&Reference::new("any/v1", kind, "shop", name));
        for (kind, name) in [
            ("Service", "web-1-2"),
            ("DestinationRule", "shop-canary.1-2"),
            ("HTTPRoute", "shop-canary.1-2-00"),
            ("HTTPRoute", "shop-canary.1-2-17"),
            ("GRPCRoute", "shop-canary.1-2.grpc-00"),
        ] {
            assert!(is_its(kind, name), "{kind} {name}");
        }
        for (kind, name) in [
            ("Service", "web"),
            ("DestinationRule", "shop-canary"),
            ("HTTPRoute", "shop-canary.1-2"),
            ("HTTPRoute", "shop-canary.1-2-00-00"),
            ("HTTPRoute", "shop-canary.1-2-+1"),
            ("VirtualService", "shop-canary.1-2"),
            ("GRPCRoute", "shop-canary.1-2-00"),
            ("HTTPRoute", "shop-canary.1-2.grpc-00"),
            ("TLSRoute", "shop-canary.1-2-00"),
        ] {
            assert!(!is_its(kind, name), "{kind} {name}");
        }
    }

    #[test]
    fn the_service_of_a_version_has_the_plain_ones_ports_and_the_version_in_its_selector() {
        let plain = json!({"metadata": {"namespace": "shop", "name": "web"}, "spec": {
            "type": "NodePort", "clusterIP": "10.0.0.1", "publishNotReadyAddresses": true,
            "selector": {"app": "web", "version": "1.1"},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080, "nodePort": 30080}]}});
        let service = V2.service_object(&plain, "version");
        assert_eq!(service["metadata"]["name"], "web-1-2");
        let expected = json!({"selector": {"app": "web", "version": "1.2"}, "publishNotReadyAddresses": true,
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}]});
        assert_eq!(service["spec"], expected);
    }
}
