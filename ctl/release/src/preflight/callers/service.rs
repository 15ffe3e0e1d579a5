//! The Service of a release as its callers see it, and other Services of the same pods.
//!
//! # Source
//! Istio, [Protocol selection](https://istio.io/latest/docs/ops/configuration/traffic-management/protocol-selection/): `appProtocol`
//! counts before the name; `ConvertProtocol` in istiod's `pkg/config/kube/conversion.go`. A name that is no protocol is detected.
//! [ServiceEntry](https://istio.io/latest/docs/reference/config/networking/service-entry/): its `workloadSelector` selects pods of its namespace.
//! [WorkloadEntry](https://istio.io/latest/docs/reference/config/networking/workload-entry/): Services select it by its labels.
//! [Waypoints](https://istio.io/latest/docs/ambient/usage/waypoint/): `istio.io/use-waypoint`, `istio.io/ingress-use-waypoint`.

use super::{Callers, UnroutedCalls};
use crate::destination_rule::labels;
use crate::object::Reference;
use crate::preflight::PodLabels;
use crate::routing::narrower;
use crate::spec::{Release, ServiceHost};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const WAYPOINT: &str = "istio.io/use-waypoint";
const INGRESS_WAYPOINT: &str = "istio.io/ingress-use-waypoint";
/// Protocols of Istio for which there are no routes.
const NO_HTTP: [&str; 9] =
    ["tcp", "udp", "https", "tls", "mongo", "redis", "mysql", "hbone", "kubernetes.io/wss"];
/// Ports that are TCP where neither name nor `appProtocol` says a protocol.
const WELL_KNOWN: [u64; 4] = [25, 53, 3306, 27017];

/// The pods behind a Service.
#[derive(Clone, Debug, Default)]
pub struct PodsBehind {
    /// Their labels.
    pub labels: Vec<PodLabels>,
    /// The ports of their containers by name: a Service can lead to a port by its name or by its number.
    pub ports: BTreeMap<String, BTreeSet<u16>>,
}

pub(super) fn of(release: &Release, callers: &Callers) -> Vec<UnroutedCalls> {
    let name = release.service.name.as_str();
    let mut found = Vec::new();
    let own = callers.services.iter().find(|service| is_named(service, name));
    if let Some((service, reference)) = own.and_then(|own| Some((own, Reference::of(own).ok()?))) {
        let is_headless = service.pointer("/spec/clusterIP").and_then(Value::as_str) == Some("None");
        found.extend(is_headless.then(|| UnroutedCalls::Headless { service: reference.clone() }));
        found.extend(not_http(service, &reference));
        found.extend(waypoint(service, &reference, callers));
        found.extend(without_version(release, callers, service));
        found.extend(is_on_nodes(service).then_some(UnroutedCalls::OnNodes { service: reference }));
    }
    found.extend(hosts_of_others(release, callers));
    let label = release.versions.label.as_str();
    let is_near = |entry: &&Value| namespace_of(entry) == Some(release.name.namespace.as_str());
    let near = callers.service_entries.iter().filter(is_near);
    let all: Vec<Value> = callers.services.iter().chain(near).cloned().collect();
    for service in same_pods(&all, name, (label, Some(release.service.port)), &callers.pods) {
        let Ok(reference) = Reference::of(service) else { continue };
        if external_name(service).is_some() {
            found.push(UnroutedCalls::Alias { service: reference });
        } else if is_on_nodes(service) {
            found.push(UnroutedCalls::OnNodes { service: reference });
        } else {
            found.push(UnroutedCalls::OtherService { service: reference });
        }
    }
    found
}

/// The workloads and endpoints behind the Service that have no version.
fn without_version(release: &Release, callers: &Callers, service: &Value) -> Vec<UnroutedCalls> {
    let (label, namespace) = (&release.versions.label, release.name.namespace.as_str());
    let near = |entry: &&Value| namespace_of(entry) == Some(namespace) && has_host(entry, release);
    let entries: Vec<&Value> = callers.service_entries.iter().filter(near).collect();
    let selectors: Vec<_> =
        std::iter::once(service).chain(entries.iter().copied()).filter_map(selector).collect();
    let is_behind = |labels: &PodLabels| {
        selectors.iter().any(|selector| {
            let has =
                |(name, value): (&String, &Value)| labels.get(name).map(String::as_str) == value.as_str();
            !selector.is_empty() && selector.iter().all(has)
        })
    };
    let workloads = callers.workload_entries.iter().filter(|workload| {
        // Those of the metadata count before those of the specification.
        let mut labels = labels(workload.pointer("/spec/labels"));
        labels.extend(self::labels(workload.pointer("/metadata/labels")));
        is_behind(&labels) && !labels.contains_key(label)
    });
    let lacks = |endpoint: &Value| !labels(endpoint.get("labels")).contains_key(label);
    let endpoints = entries.iter().copied().filter(|entry| {
        entry.pointer("/spec/endpoints").and_then(Value::as_array).is_some_and(|all| all.iter().any(lacks))
    });
    let found = workloads.chain(endpoints).filter_map(|object| Reference::of(object).ok());
    found.map(|workload| UnroutedCalls::WithoutVersion { workload, label: label.clone() }).collect()
}

/// The `ServiceEntry`s of other namespaces that have the host of the Service, and whose proxies are sent it.
fn hosts_of_others(release: &Release, callers: &Callers) -> Vec<UnroutedCalls> {
    let is_other = |entry: &&Value| {
        namespace_of(entry) != Some(release.name.namespace.as_str()) && has_host(entry, release)
    };
    let others = callers.service_entries.iter().filter(is_other);
    others
        .filter_map(|entry| Some(UnroutedCalls::HostOfOthers { entry: Reference::of(entry).ok()? }))
        .collect()
}

/// Whether a `ServiceEntry` has the host of the release's Service.
fn has_host(entry: &Value, release: &Release) -> bool {
    let host = release.service_host().fqdn();
    let hosts = entry.pointer("/spec/hosts").and_then(Value::as_array).into_iter().flatten();
    let mut hosts = hosts.filter_map(Value::as_str);
    hosts.any(|found| narrower(&found.to_ascii_lowercase(), &host).as_ref() == Some(&host))
}

fn namespace_of(object: &Value) -> Option<&str> {
    object.pointer("/metadata/namespace").and_then(Value::as_str)
}

/// The other Services, and `ServiceEntry`s, that select pods of a Service whatever their version, and lead to the same port of theirs; without a port to any
/// of the ports to which it leads. A headless one without ports leads to all.
///
/// One that selects by the version label is meant for a version.
pub fn same_pods<'s>(
    services: &'s [Value],
    name: &str,
    (label, port): (&str, Option<u16>),
    pods: &PodsBehind,
) -> Vec<&'s Value> {
    let own = services.iter().find(|service| is_named(service, name));
    let targets = own.map(|own| targets_of(own, port, pods)).unwrap_or_default();
    let host = own.and_then(namespace_of).map(|namespace| ServiceHost::new(name, namespace).fqdn());
    let is_same = |service: &&Value| {
        if let Some(alias) = external_name(service) {
            return Some(alias) == host;
        }
        let Some(selector) = selector(service) else { return false };
        let fits = |pod: &PodLabels| {
            selector.iter().all(|(name, value)| pod.get(name).map(String::as_str) == value.as_str())
        };
        !is_named(service, name)
            && !selector.is_empty()
            && !selector.contains_key(label)
            && pods.labels.iter().any(fits)
            && (has_no_ports(service) || !targets_of(service, None, pods).is_disjoint(&targets))
    };
    services.iter().filter(is_same).collect()
}

/// The host of which a Service is another name.
fn external_name(service: &Value) -> Option<String> {
    let name = service.pointer("/spec/externalName").and_then(Value::as_str)?;
    let is_alias = service.pointer("/spec/type").and_then(Value::as_str) == Some("ExternalName");
    is_alias.then(|| name.trim_end_matches('.').to_ascii_lowercase())
}

fn is_named(object: &Value, name: &str) -> bool {
    object.get("kind").and_then(Value::as_str) == Some("Service")
        && object.pointer("/metadata/name").and_then(Value::as_str) == Some(name)
}

/// The labels by which a Service or a `ServiceEntry` selects pods of its namespace.
fn selector(object: &Value) -> Option<&Map<String, Value>> {
    let found = object.pointer("/spec/selector").or_else(|| object.pointer("/spec/workloadSelector/labels"));
    found?.as_object()
}

fn has_no_ports(service: &Value) -> bool {
    service.pointer("/spec/ports").and_then(Value::as_array).is_none_or(Vec::is_empty)
}

/// The ports of pods to which the ports of a Service lead; those of one port, if it is given. A name that no container has stays one.
fn targets_of(service: &Value, of: Option<u16>, pods: &PodsBehind) -> BTreeSet<String> {
    let ports = service.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let wanted =
        ports.filter(|port| of.is_none_or(|of| port.get("port").and_then(Value::as_u64) == Some(of.into())));
    let targets = |port: &Value| {
        let found = ["targetPort", "port", "number"].iter().find_map(|field| port.get(field));
        let text = found.map(|found| found.as_str().map_or_else(|| found.to_string(), str::to_owned));
        let numbers = text.as_ref().and_then(|name| pods.ports.get(name));
        numbers.map_or_else(
            || text.into_iter().collect(),
            |all| all.iter().map(u16::to_string).collect::<Vec<_>>(),
        )
    };
    wanted.flat_map(targets).collect()
}

fn is_on_nodes(service: &Value) -> bool {
    let has_addresses = service
        .pointer("/spec/externalIPs")
        .and_then(Value::as_array)
        .is_some_and(|addresses| !addresses.is_empty());
    service.pointer("/spec/type").and_then(Value::as_str) == Some("NodePort") || has_addresses
}

/// Each port of a Service for which Istio has no routes.
fn not_http(service: &Value, reference: &Reference) -> Vec<UnroutedCalls> {
    let ports = service.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let of_port = |port: &Value| {
        let number = u16::try_from(port.get("port")?.as_u64()?).ok()?;
        let text = |field: &str| port.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (field, found) = match (text("appProtocol"), text("name")) {
            (Some(protocol), _) => ("appProtocol", protocol),
            (None, name) => ("name", name.unwrap_or_default()),
        };
        let protocol = protocol_of(found, number.into(), text("protocol"))?;
        let found = format!("{field}: {found}");
        Some(UnroutedCalls::NotHttp { service: reference.clone(), port: number, found, protocol })
    };
    ports.filter_map(of_port).collect()
}

/// The protocol for which there are no routes; `None` for HTTP, and where Istio detects it.
fn protocol_of(text: &str, port: u64, transport: Option<&str>) -> Option<String> {
    if transport == Some("UDP") {
        return Some("UDP".to_owned());
    }
    let text = text.to_ascii_lowercase();
    let is_grpc_web = text.starts_with("grpc-web");
    let prefix = if NO_HTTP.contains(&text.as_str()) { text.as_str() } else { text.split('-').next()? };
    if NO_HTTP.contains(&prefix) {
        return Some(if prefix == "kubernetes.io/wss" {
            "HTTPS".to_owned()
        } else {
            prefix.to_ascii_uppercase()
        });
    }
    let is_known = is_grpc_web
        || ["http", "http2", "http_proxy", "grpc", "kubernetes.io/h2c", "kubernetes.io/ws"].contains(&prefix);
    (!is_known && WELL_KNOWN.contains(&port)).then(|| "TCP".to_owned())
}

/// The waypoint of the Service, else that of its namespace; `none` takes it away.
fn waypoint(service: &Value, reference: &Reference, callers: &Callers) -> Option<UnroutedCalls> {
    let own = service.pointer("/metadata/labels").and_then(Value::as_object);
    let label = |name: &str| {
        let found = own.and_then(|labels| labels.get(name)?.as_str());
        found.or_else(|| callers.namespace_labels.get(name).map(String::as_str))
    };
    let waypoint = label(WAYPOINT).filter(|name| *name != "none")?.to_owned();
    let takes_ingress = label(INGRESS_WAYPOINT) == Some("true");
    Some(UnroutedCalls::Waypoint { service: reference.clone(), waypoint, takes_ingress })
}
