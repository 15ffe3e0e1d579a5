//! The ways to a release's pods that it does not cover, and whether a canary may come nevertheless.

use super::pods::{has_ended, has_sidecar};
use super::{Cluster, Error};
use crate::plan::{Coverage, Outsiders, PreflightCheck, Reach, Record, Reference, gaps};
use crate::spec::{ReleaseName, Routes};
use assignment::contract::Role;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl Cluster {
    /// The ways past the routes of a release, and who may take them. `coming` are the objects that become ours with the
    /// next write.
    pub async fn coverage(
        &self,
        release: &ReleaseName,
        record: &Record,
        coming: &[Reference],
    ) -> Result<Coverage, Error> {
        let (namespace, service) = (release.namespace.as_str(), record.service.name.as_str());
        let proxies = record.proxies.iter().map(|proxies| proxies.namespace.as_str());
        let mut objects = Vec::new();
        for namespace in proxies.chain([namespace]).collect::<BTreeSet<_>>() {
            objects.extend(self.list_istio("VirtualService", namespace).await?);
        }
        objects.extend(self.list("networking.k8s.io/v1", "Ingress", namespace).await?);
        let called = self.get(&Reference::new("v1", "Service", namespace, service)).await?;
        let outsiders = self.outsiders(namespace, called.as_ref()).await?;
        objects.extend(called);
        let ours = record.objects.iter().map(|(_, reference)| reference).chain(coming);
        let ours: Vec<Reference> = ours.cloned().collect();
        let gaps = gaps(Reach { service, namespace, objects: &objects, ours: &ours });
        Ok(Coverage { gaps, outsiders })
    }

    /// The pods of a namespace that are not behind this Service and have no sidecar.
    async fn outsiders(&self, namespace: &str, service: Option<&Value>) -> Result<Outsiders, Error> {
        let selector = service.and_then(|service| service.pointer("/spec/selector")?.as_object());
        let is_behind = |labels: &BTreeMap<String, String>| {
            let is_on =
                |(name, value): (&String, &Value)| labels.get(name).map(String::as_str) == value.as_str();
            selector.is_some_and(|selector| selector.iter().all(is_on))
        };
        let pods = self.pods(namespace, &BTreeMap::new()).await?.into_iter();
        let outside = pods.filter(|pod| {
            let is_behind = is_behind(&pod.metadata.labels.clone().unwrap_or_default());
            !is_behind && !has_sidecar(pod) && !has_ended(pod)
        });
        Ok(Outsiders(outside.filter_map(|pod| pod.metadata.name).collect()))
    }

    /// Refuses to bring a canary whose ready pods are reached past our routes; `before` is the record of before, and
    /// `coming` are the objects of after. Returns the ways that it does not refuse, for somebody to be told.
    ///
    /// Where the routes are somebody else's it refuses nothing: before the subsets are there, no route of theirs can name
    /// one.
    pub(super) async fn check_coverage(
        &self,
        release: &ReleaseName,
        (before, after): (Option<&Record>, &Record),
        coming: &[Reference],
        skipped: &[PreflightCheck],
    ) -> Result<Coverage, Error> {
        let Some(canary) = after.standing.version_of(Role::Canary) else { return Ok(Coverage::default()) };
        if skipped.contains(&PreflightCheck::Uncovered) {
            return Ok(Coverage::default());
        }
        let coverage = self.coverage(release, after, coming).await?;
        let is_known = before.is_some_and(|before| before.standing.version_of(Role::Canary) == Some(canary));
        let Some(gap) = coverage.gaps.first().filter(|_| !is_known && after.routes != Routes::External)
        else {
            return Ok(coverage);
        };
        let pods = self.ready(release.namespace.as_str(), &after.service, canary).await?;
        if pods.ready > 0 {
            let message = format!(
                "version `{canary}` has {} ready pods, and {gap}: whoever comes by it may get them",
                pods.ready
            );
            PreflightCheck::Uncovered.refuse(skipped, message, gap.instead)?;
        }
        Ok(coverage)
    }
}
