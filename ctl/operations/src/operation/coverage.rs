//! The routes to a release's pods that bypass it, and whether a canary is allowed nevertheless.

use crate::client::ServicePods;
use crate::client::pods::{data_plane, has_ended, has_sidecar};
use crate::observe::rules::namespaces;
use crate::operation::apply::Planned;
use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::data_plane::DataPlane;
use canary_release::object::Reference;
use canary_release::preflight::{Alternative, PreflightCheck};
use canary_release::record::Record;
use canary_release::routing::{AmbientPods, Coverage, Gap, ROUTE_KIND, Reach, UnmeshedPods, gaps};
use canary_release::spec::{ReleaseName, Routes};
use serde_json::Value;
use std::collections::BTreeMap;

impl Cluster {
    /// The routes that bypass a release, and which clients can use them. `coming` are the objects that become ours with
    /// the next write.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses.
    pub async fn coverage(
        &self,
        release: &ReleaseName,
        record: &Record,
        coming: &[Reference],
    ) -> Result<Coverage, Error> {
        Ok(self.reach(release, record).await?.coverage(release, record, coming))
    }

    /// What leads to a release's pods.
    async fn reach(&self, release: &ReleaseName, record: &Record) -> Result<Reached, Error> {
        let (namespace, service) = (release.namespace.as_str(), record.service.name.as_str());
        let mut objects = self.client.list_istio_in(ROUTE_KIND, &namespaces(record, namespace)).await?;
        objects.extend(self.client.http_routes(namespace).await?);
        objects.extend(self.client.list("networking.k8s.io/v1", "Ingress", namespace).await?);
        let called = self.client.get(&Reference::new("v1", "Service", namespace, service)).await?;
        let (unmeshed_pods, ambient_pods) = self.other_pods(namespace, called.as_ref()).await?;
        objects.extend(called);
        Ok(Reached { objects, unmeshed_pods, ambient_pods })
    }

    /// The pods of a namespace that are not behind this Service and have no sidecar: those that are in no mesh, and those that are
    /// ambient.
    async fn other_pods(
        &self,
        namespace: &str,
        service: Option<&Value>,
    ) -> Result<(UnmeshedPods, AmbientPods), Error> {
        let selector = service.and_then(|service| service.pointer("/spec/selector")?.as_object());
        let is_behind = |labels: &BTreeMap<String, String>| {
            let is_on =
                |(name, value): (&String, &Value)| labels.get(name).map(String::as_str) == value.as_str();
            selector.is_some_and(|selector| selector.iter().all(is_on))
        };
        let pods = self.client.pods(namespace, &BTreeMap::new()).await?.into_iter();
        let outside = pods.filter(|pod| {
            let is_behind = is_behind(&pod.metadata.labels.clone().unwrap_or_default());
            !is_behind && !has_sidecar(pod) && !has_ended(pod)
        });
        // By what the pods say alone: istio-cni annotates those that it has taken into the mesh, and a call for their namespace would
        // be one for what belongs to others.
        let outside: Vec<_> = outside.map(|pod| (data_plane(&pod, &BTreeMap::new()), pod)).collect();
        let names = |wanted: DataPlane| {
            let found = outside.iter().filter(move |(data_plane, _)| *data_plane == wanted);
            found.filter_map(|(_, pod)| pod.metadata.name.clone()).collect()
        };
        Ok((UnmeshedPods(names(DataPlane::Unmeshed)), AmbientPods(names(DataPlane::Ztunnel))))
    }

    /// Refuses to add a canary whose ready pods can be reached by a bypass, and to take users off pods that they reach
    /// today by a route that becomes ours. Returns the bypasses that it does not
    /// refuse, for a message.
    ///
    /// If the routes are external it refuses nothing: before the subsets exist, no external route can name one.
    pub(crate) async fn check_coverage(
        &self,
        release: &ReleaseName,
        planned: &Planned,
        pods: &ServicePods,
        skipped: &[PreflightCheck],
    ) -> Result<Coverage, Error> {
        let (before, after) = (planned.before.as_ref(), &planned.stored.record);
        let Some(canary) = after.state.version_of(Role::Canary) else { return Ok(Coverage::default()) };
        let coming: Vec<Reference> =
            planned.desired.owned().into_iter().map(|(_, reference)| reference).collect();
        let reached = self.reach(release, after).await?;
        check_closed_gaps(&reached.closed_gaps(release, planned, &coming), after, pods, skipped)?;
        if skipped.contains(&PreflightCheck::RoutesBypassed) {
            return Ok(Coverage::default());
        }
        let coverage = reached.coverage(release, after, &coming);
        let is_known = before.is_some_and(|before| before.state.version_of(Role::Canary) == Some(canary));
        let Some(gap) = coverage.gaps.first().filter(|_| !is_known && after.routes != Routes::External)
        else {
            return Ok(coverage);
        };
        let pods = pods.of_version(&after.service, canary);
        if pods.ready > 0 {
            let message = format!(
                "version `{canary}` has {} ready pods, and {gap}: such requests may get them",
                pods.ready
            );
            PreflightCheck::RoutesBypassed.refuse(
                skipped,
                message,
                Alternative::CloseGap { gap: Box::new(gap.clone()) },
            )?;
        }
        Ok(coverage)
    }
}

/// What leads to a release's pods, whoever owns it.
struct Reached {
    objects: Vec<Value>,
    unmeshed_pods: UnmeshedPods,
    ambient_pods: AmbientPods,
}

impl Reached {
    fn coverage(self, release: &ReleaseName, record: &Record, coming: &[Reference]) -> Coverage {
        let ours = record.objects.iter().map(|(_, reference)| reference).chain(coming);
        let gaps = self.gaps(release, record, ours);
        Coverage { gaps, unmeshed_pods: self.unmeshed_pods, ambient_pods: self.ambient_pods }
    }

    /// The routes that lead to all pods today, and to the stable version alone after the next write.
    fn closed_gaps(&self, release: &ReleaseName, planned: &Planned, coming: &[Reference]) -> Vec<Gap> {
        let before = planned.before.iter().flat_map(|record| &record.objects).map(|(_, reference)| reference);
        let mut gaps = self.gaps(release, &planned.stored.record, before);
        gaps.retain(|gap| coming.contains(&gap.object));
        gaps
    }

    fn gaps<'r>(
        &self,
        release: &ReleaseName,
        record: &Record,
        ours: impl Iterator<Item = &'r Reference>,
    ) -> Vec<Gap> {
        let ours: Vec<Reference> = ours.cloned().collect();
        let (service, namespace) = (record.service.name.as_str(), release.namespace.as_str());
        gaps(Reach { service, namespace, objects: &self.objects, ours: &ours })
    }
}

/// Refuses routes that take users off ready pods that they reach by the Service.
fn check_closed_gaps(
    closed: &[Gap],
    record: &Record,
    pods: &ServicePods,
    skipped: &[PreflightCheck],
) -> Result<(), Error> {
    let Some(gap) = closed.first() else { return Ok(()) };
    let Some((version, ready)) = pods.ready_beside_stable(record).into_iter().next() else { return Ok(()) };
    let message = format!(
        "version `{version}` has {ready} ready pods, and {gap}: its users would be moved to the stable version"
    );
    Ok(PreflightCheck::MovesUsers.refuse(skipped, message, Alternative::StopPods { version })?)
}
