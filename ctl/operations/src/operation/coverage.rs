//! The routes to a release's pods that bypass it, and whether a canary is allowed nevertheless.

use crate::client::ServicePods;
use crate::client::pods::{contested, data_plane, has_ended, has_sidecar};
use crate::observe::rules::namespaces;
use crate::operation::apply::Planned;
use crate::{Cluster, Error};
use assignment::contract::Role;
use canary_release::data_plane::DataPlane;
use canary_release::format::counted;
use canary_release::object::Reference;
use canary_release::preflight::{Alternative, PreflightCheck, same_pods};
use canary_release::record::Record;
use canary_release::routing::{AmbientPods, Coverage, Gap, ROUTE_KIND, Reach, UnmeshedPods, gaps};
use canary_release::spec::{ReleaseName, Routes};
use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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
        let services = self.services(release.namespace.as_str(), &record.service.name).await?;
        Ok(self.reach(release, record, (services, None)).await?.coverage(release, record, coming))
    }

    /// Refuses a canary beside a Service that leads to other pods than those of stable.
    pub(crate) async fn check_default_route(
        &self,
        release: &ReleaseName,
        record: &Record,
        skipped: &[PreflightCheck],
    ) -> Result<(), Error> {
        if skipped.contains(&PreflightCheck::RoutesBypassed) {
            return Ok(());
        }
        let found = Box::pin(self.default_route(release, record)).await?;
        Ok(found.map_or(Ok(()), |default| default.check(skipped))?)
    }

    /// Finds the objects that lead to a release's pods. `routes` are those of all owners, if they were read.
    async fn reach(
        &self,
        release: &ReleaseName,
        record: &Record,
        (services, routes): (Vec<Value>, Option<Vec<Value>>),
    ) -> Result<Reached, Error> {
        let (namespace, service) = (release.namespace.as_str(), record.service.name.as_str());
        let mut objects = if let Some(routes) = routes {
            routes
        } else {
            let near = namespaces(record, namespace);
            let mut objects = self.client.list_istio_everywhere(ROUTE_KIND, &near).await?;
            objects.extend(self.client.gateway_api_routes(&near, true).await?);
            objects
        };
        let grants = self.client.grants(namespace, objects.iter()).await?;
        objects.extend(self.client.list("networking.k8s.io/v1", "Ingress", namespace).await?);
        let is_called =
            |body: &&Value| body.pointer("/metadata/name").and_then(Value::as_str) == Some(service);
        let called = services.iter().find(is_called);
        let (behind, (unmeshed_pods, ambient_pods)) = self.namespace_pods(namespace, called).await?;
        let label = record.service.label.as_str();
        let stable = record.state.version_of(Role::Stable).unwrap_or_default();
        let behind = contested(&behind, label, stable);
        let others = same_pods(&services, service, (label, None), &behind);
        let others = others.into_iter().filter_map(|body| body.pointer("/metadata/name")?.as_str());
        let others = others.map(str::to_owned).collect();
        objects.extend(services);
        let proxies = record.proxies.iter().map(|proxies| proxies.namespace.clone()).collect();
        Ok(Reached { objects, others, grants, proxies, unmeshed_pods, ambient_pods })
    }

    /// The pods of a namespace that are behind this Service; and those that are not and have no sidecar: the pods in no mesh, and the
    /// ambient ones.
    async fn namespace_pods(
        &self,
        namespace: &str,
        service: Option<&Value>,
    ) -> Result<(Vec<Pod>, (UnmeshedPods, AmbientPods)), Error> {
        let selector = service.and_then(|service| service.pointer("/spec/selector")?.as_object());
        let is_behind = |labels: &BTreeMap<String, String>| {
            let is_on =
                |(name, value): (&String, &Value)| labels.get(name).map(String::as_str) == value.as_str();
            selector.is_some_and(|selector| selector.iter().all(is_on))
        };
        let labels = |pod: &Pod| pod.metadata.labels.clone().unwrap_or_default();
        let pods = self.client.pods(namespace, &BTreeMap::new()).await?.into_iter();
        let (inside, outside): (Vec<Pod>, Vec<Pod>) = pods.partition(|pod| is_behind(&labels(pod)));
        let outside = outside.into_iter().filter(|pod| !has_sidecar(pod) && !has_ended(pod));
        // By what the pods say alone: istio-cni annotates those that it has taken into the mesh, and a call for their namespace would
        // be one for what belongs to others.
        let outside: Vec<_> = outside.map(|pod| (data_plane(&pod, &BTreeMap::new()), pod)).collect();
        let names = |wanted: DataPlane| {
            let found = outside.iter().filter(move |(data_plane, _)| *data_plane == wanted);
            found.filter_map(|(_, pod)| pod.metadata.name.clone()).collect()
        };
        let others = (UnmeshedPods(names(DataPlane::Unmeshed)), AmbientPods(names(DataPlane::Ztunnel)));
        Ok((inside, others))
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
        (pods, services, routes): (&ServicePods, Vec<Value>, Option<Vec<Value>>),
        skipped: &[PreflightCheck],
    ) -> Result<Coverage, Error> {
        let (before, after) = (planned.before.as_ref(), &planned.stored.record);
        let Some(canary) = after.state.version_of(Role::Canary) else { return Ok(Coverage::default()) };
        let coming: Vec<Reference> =
            planned.desired.owned().into_iter().map(|(_, reference)| reference).collect();
        Box::pin(self.check_default_route(release, after, skipped)).await?;
        let reached = self.reach(release, after, (services, routes)).await?;
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
                "version `{canary}` has {}, and {gap}: such requests may get them",
                counted(pods.ready, "ready pod", "ready pods")
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

/// The objects that lead to a release's pods, of all owners.
struct Reached {
    objects: Vec<Value>,
    /// The names of other Services of the same pods.
    others: Vec<String>,
    /// The `ReferenceGrant`s, where routes of other namespaces need them.
    grants: Option<Vec<Value>>,
    /// The namespaces of the release's proxies.
    proxies: BTreeSet<String>,
    unmeshed_pods: UnmeshedPods,
    ambient_pods: AmbientPods,
}

impl Reached {
    fn coverage(self, release: &ReleaseName, record: &Record, coming: &[Reference]) -> Coverage {
        let ours = record.objects.iter().map(|(_, reference)| reference).chain(coming);
        let gaps = self.gaps(release, record, ours);
        if record.service.per_version {
            return Coverage { gaps, ..Coverage::default() };
        }
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
        let mut found = gaps(Reach {
            service,
            others: &self.others,
            namespace,
            objects: &self.objects,
            grants: self.grants.as_deref(),
            proxies: &self.proxies,
            ours: &ours,
        });
        // The plain Service leads to stable alone; another one of the same pods may not.
        found.retain(|gap| !record.service.per_version || gap.other_service.is_some());
        found
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
        "version `{version}` has {}, and {gap}: its users would be moved to the stable version",
        counted(ready, "ready pod", "ready pods")
    );
    Ok(PreflightCheck::MovesUsers.refuse(skipped, message, Alternative::StopPods { version })?)
}
