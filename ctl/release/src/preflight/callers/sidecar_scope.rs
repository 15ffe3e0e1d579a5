//! Callers whose `Sidecar` leaves the Service out: their proxies do not know it, and pass calls on to its address as they are.
//!
//! # Source
//! Istio, [Sidecar](https://istio.io/latest/docs/reference/config/networking/sidecar/): one with a `workloadSelector` counts for the pods
//! that it selects, then the one of the namespace, then the one of the root namespace; `egress[].hosts` are `namespace/dnsName`, and with a
//! `port` count for Services of that port alone. Without `egress` nothing is left out.

use super::{Callers, UnroutedCalls};
use crate::destination_rule::ROOT_NAMESPACE;
use crate::object::Reference;
use crate::spec::Release;
use serde_json::Value;

pub(super) fn of(release: &Release, callers: &Callers) -> Vec<UnroutedCalls> {
    let (host, own) = (release.service_host().fqdn(), release.name.namespace.as_str());
    let out_of_scope = |sidecar: &Value| {
        let reference = Reference::of(sidecar).ok()?;
        let selects = sidecar.pointer("/spec/workloadSelector/labels").and_then(Value::as_object);
        let selects_pods = selects.is_some_and(|labels| !labels.is_empty());
        let is_root = reference.namespace == ROOT_NAMESPACE && !selects_pods;
        if is_in_scope(sidecar, &reference.namespace, (own, &host, release.service.port), is_root) {
            return None;
        }
        let namespace = (!is_root).then(|| reference.namespace.clone());
        Some(UnroutedCalls::OutOfScope { sidecar: reference, namespace })
    };
    callers.sidecars.iter().filter_map(out_of_scope).collect()
}

/// Whether a `Sidecar` lets its pods see a host of a namespace. Of the root namespace `.` is the namespace of each caller: those beside
/// the Service see it, and the others do not.
fn is_in_scope(
    sidecar: &Value,
    callers: &str,
    (namespace, host, port): (&str, &str, u16),
    is_root: bool,
) -> bool {
    let Some(egress) =
        sidecar.pointer("/spec/egress").and_then(Value::as_array).filter(|all| !all.is_empty())
    else {
        return true;
    };
    let is_for_port = |listener: &&Value| {
        let number = listener.pointer("/port/number").and_then(Value::as_u64);
        number.is_none_or(|number| number == 0 || number == u64::from(port))
    };
    let listeners = egress.iter().filter(is_for_port);
    let hosts = listeners.filter_map(|listener| listener.get("hosts")?.as_array()).flatten();
    hosts.filter_map(Value::as_str).any(|entry| {
        let Some((of, name)) = entry.split_once('/') else { return false };
        let is_visible = match of {
            "*" => true,
            "." => !is_root && callers == namespace,
            other => other == namespace,
        };
        is_visible && covers(name, host)
    })
}

fn covers(name: &str, host: &str) -> bool {
    name.strip_prefix('*').map_or(name == host, |end| host.ends_with(end))
}
