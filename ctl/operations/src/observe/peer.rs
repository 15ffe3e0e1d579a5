//! Reads the objects of Flagger and Argo Rollouts that a first canary.yaml can be made of.

use crate::{Cluster, Error};
use canary_release::import::Peer;
use canary_release::object::Reference;
use canary_release::routing::ROUTE_KIND;
use serde_json::Value;
use std::collections::BTreeSet;

const FLAGGER: &str = "flagger.app/v1beta1";
const ARGO: &str = "argoproj.io/v1alpha1";
const ISTIO: &str = "networking.istio.io/v1";

/// The objects of a peer's release.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerObjects {
    /// The `Canary` or `Rollout`, and the objects that it names.
    Found(Vec<Value>),
    /// There is none of that name.
    NoObject,
    /// The kind is not installed.
    NoKind,
}

impl Cluster {
    /// A `Canary` or a `Rollout` with the objects that it names. What may not be read beside it is left out.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses to show the object itself.
    pub async fn peer_objects(&self, peer: Peer, namespace: &str, name: &str) -> Result<PeerObjects, Error> {
        let (api_version, kind) = match peer {
            Peer::Flagger => (FLAGGER, "Canary"),
            Peer::Argo => (ARGO, "Rollout"),
        };
        let Some(subject) = self.client.get(&Reference::new(api_version, kind, namespace, name)).await?
        else {
            return match self.client.list(api_version, kind, namespace).await {
                Err(Error::Refused { code: 404, .. }) => Ok(PeerObjects::NoKind),
                _ => Ok(PeerObjects::NoObject),
            };
        };
        let mut objects = match peer {
            Peer::Flagger => self.of_canary(&subject, namespace).await?,
            Peer::Argo => self.of_rollout(&subject, namespace).await?,
        };
        let gateways = gateways(objects.iter().chain([&subject]), namespace);
        objects.extend(self.existing(gateways).await?);
        objects.insert(0, subject);
        Ok(PeerObjects::Found(objects))
    }

    async fn of_canary(&self, canary: &Value, namespace: &str) -> Result<Vec<Value>, Error> {
        let mut references = vec![deployment(canary, "/spec/targetRef/name", namespace)];
        for (list, field, kind) in [
            ("/spec/analysis/metrics", "templateRef", "MetricTemplate"),
            ("/spec/analysis/alerts", "providerRef", "AlertProvider"),
        ] {
            let items = canary.pointer(list).and_then(Value::as_array).into_iter().flatten();
            references.extend(items.filter_map(|item| {
                let reference = item.get(field)?;
                let namespace = reference.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
                Some(Some(Reference::new(FLAGGER, kind, namespace, reference.get("name")?.as_str()?)))
            }));
        }
        self.existing(references.into_iter().flatten()).await
    }

    async fn of_rollout(&self, rollout: &Value, namespace: &str) -> Result<Vec<Value>, Error> {
        let workload = deployment(rollout, "/spec/workloadRef/name", namespace);
        let mut objects = self.existing(workload.into_iter().chain(stable_pods(rollout, namespace))).await?;
        for (api_version, kind, namespace) in [
            (ARGO, "AnalysisTemplate", namespace),
            (ARGO, "ClusterAnalysisTemplate", ""),
            ("v1", "Service", namespace),
            (ISTIO, ROUTE_KIND, namespace),
            (ISTIO, "DestinationRule", namespace),
        ] {
            match self.client.list(api_version, kind, namespace).await {
                Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => {}
                found => objects.extend(found?),
            }
        }
        Ok(objects)
    }

    /// Those that are there and may be read.
    async fn existing(&self, references: impl IntoIterator<Item = Reference>) -> Result<Vec<Value>, Error> {
        let mut found = Vec::new();
        for reference in references {
            match self.client.get(&reference).await {
                Err(Error::Forbidden { .. }) => {}
                object => found.extend(object?),
            }
        }
        Ok(found)
    }
}

fn deployment(object: &Value, pointer: &str, namespace: &str) -> Option<Reference> {
    let name = object.pointer(pointer)?.as_str()?;
    Some(Reference::new("apps/v1", "Deployment", namespace, name))
}

/// The `ReplicaSet` of a Rollout's stable revision.
fn stable_pods(rollout: &Value, namespace: &str) -> Option<Reference> {
    let text = |pointer: &str| rollout.pointer(pointer).and_then(Value::as_str);
    let name = format!("{}-{}", text("/metadata/name")?, text("/status/stableRS")?);
    Some(Reference::new("apps/v1", "ReplicaSet", namespace, &name))
}

/// The Gateways that routes name.
fn gateways<'o>(objects: impl Iterator<Item = &'o Value>, namespace: &str) -> Vec<Reference> {
    let names = objects.flat_map(|object| {
        let lists = ["/spec/gateways", "/spec/service/gateways"];
        let lists = lists.into_iter().filter_map(|list| object.pointer(list)?.as_array());
        lists.flatten().filter_map(Value::as_str)
    });
    let names: BTreeSet<&str> = names.filter(|name| *name != "mesh").collect();
    let reference = |name: &str| {
        let (namespace, name) = name.split_once('/').unwrap_or((namespace, name));
        Reference::new(ISTIO, "Gateway", namespace, name)
    };
    names.into_iter().map(reference).collect()
}
