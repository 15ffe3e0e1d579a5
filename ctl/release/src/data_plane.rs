//! How the requests of a pod go through the mesh: only sidecars and gateways have a filter of ours.
//!
//! # Source
//! Istio, [Add workloads to an ambient mesh](https://istio.io/latest/docs/ambient/usage/add-workloads/): the label
//! `istio.io/dataplane-mode` of a pod counts before that of its namespace; istio-cni annotates the pods whose traffic goes to
//! ztunnel. [`EnvoyFilter`](https://istio.io/latest/docs/reference/config/networking/envoy-filter/) is for sidecars and gateways.

use std::collections::BTreeMap;

/// The label of a namespace or a pod that says how its traffic is taken into the mesh.
pub const DATA_PLANE_MODE: &str = "istio.io/dataplane-mode";
const AMBIENT: &str = "ambient";
/// The annotation of istio-cni on a pod whose traffic it sends to ztunnel.
const REDIRECTION: (&str, &str) = ("ambient.istio.io/redirection", "enabled");
/// The labels that istiod gives the pods of a waypoint.
const WAYPOINT: [(&str, &str); 2] = [
    ("gateway.istio.io/managed", "istio.io-mesh-controller"),
    ("gateway.networking.k8s.io/gateway-class-name", "istio-waypoint"),
];

/// The path of a pod's requests through the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPlane {
    /// By an Envoy in the pod: a sidecar or a gateway.
    Envoy,
    /// By the ztunnel of its node.
    Ztunnel,
    /// It is a waypoint: an Envoy that applies no `EnvoyFilter`.
    Waypoint,
    /// Not at all.
    Unmeshed,
}

/// The labels and images of a pod.
#[derive(Clone, Copy, Debug)]
pub struct PodDescription<'p> {
    /// Whether one of its containers is Istio's proxy.
    pub has_proxy: bool,
    /// Its labels.
    pub labels: &'p BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: &'p BTreeMap<String, String>,
}

impl DataPlane {
    /// That of a pod in a namespace with these labels; none where they are not known.
    pub fn of(pod: PodDescription<'_>, namespace: &BTreeMap<String, String>) -> Self {
        let is = |all: &BTreeMap<String, String>, (name, value): (&str, &str)| {
            all.get(name).is_some_and(|found| found == value)
        };
        if WAYPOINT.into_iter().any(|label| is(pod.labels, label)) {
            return Self::Waypoint;
        }
        if pod.has_proxy {
            return Self::Envoy;
        }
        let mode = pod.labels.get(DATA_PLANE_MODE).or_else(|| namespace.get(DATA_PLANE_MODE));
        let is_ambient = mode.is_some_and(|mode| mode == AMBIENT);
        if is_ambient || is(pod.annotations, REDIRECTION) { Self::Ztunnel } else { Self::Unmeshed }
    }

    /// Whether an `EnvoyFilter` of ours can apply to it.
    pub const fn takes_filters(self) -> bool {
        matches!(self, Self::Envoy | Self::Unmeshed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_data_plane_of_a_pod_follows_its_proxy_its_own_labels_and_its_namespace_in_this_order() {
        const MODE: &str = DATA_PLANE_MODE;
        type Pairs<'p> = &'p [(&'p str, &'p str)];
        let ambient: Pairs<'_> = &[(MODE, "ambient")];
        let cases: [(&str, bool, Pairs<'_>, Pairs<'_>, Pairs<'_>, DataPlane); 8] = [
            ("a sidecar", true, &[], &[], &[], DataPlane::Envoy),
            ("a sidecar in an ambient namespace", true, &[], &[], ambient, DataPlane::Envoy),
            ("nothing", false, &[], &[], &[], DataPlane::Unmeshed),
            ("an ambient namespace", false, &[], &[], ambient, DataPlane::Ztunnel),
            ("an ambient pod", false, ambient, &[], &[], DataPlane::Ztunnel),
            ("taken out by its label", false, &[(MODE, "none")], &[], ambient, DataPlane::Unmeshed),
            ("taken in by istio-cni", false, &[], &[REDIRECTION], &[], DataPlane::Ztunnel),
            ("a waypoint", true, &[WAYPOINT[1]], &[], ambient, DataPlane::Waypoint),
        ];
        for (what, has_proxy, labels, annotations, namespace, expected) in cases {
            let (labels, annotations) = (pairs(labels), pairs(annotations));
            let pod = PodDescription { has_proxy, labels: &labels, annotations: &annotations };
            assert_eq!(DataPlane::of(pod, &pairs(namespace)), expected, "{what}");
        }
    }
}
