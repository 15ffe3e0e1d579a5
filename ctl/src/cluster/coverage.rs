//! The ways to a release's pods that it does not cover, and whether a canary may come nevertheless.

use super::{Cluster, Error};
use crate::plan::{Gap, Guard, Reach, Record, Reference, gaps};
use crate::spec::{ReleaseName, Routes};
use assignment::contract::Role;
use std::collections::BTreeSet;

impl Cluster {
    /// The ways past the routes of a release. `coming` are the objects that become ours with the next write.
    pub async fn gaps(
        &self,
        release: &ReleaseName,
        record: &Record,
        coming: &[Reference],
    ) -> Result<Vec<Gap>, Error> {
        let (namespace, service) = (release.namespace.as_str(), record.service.name.as_str());
        let proxies = record.proxies.iter().map(|proxies| proxies.namespace.as_str());
        let mut objects = Vec::new();
        for namespace in proxies.chain([namespace]).collect::<BTreeSet<_>>() {
            objects.extend(self.list_istio("VirtualService", namespace).await?);
        }
        objects.extend(self.list("networking.k8s.io/v1", "Ingress", namespace).await?);
        objects.extend(self.get(&Reference::new("v1", "Service", namespace, service)).await?);
        let ours = record.objects.iter().map(|(_, reference)| reference).chain(coming);
        let ours: Vec<Reference> = ours.cloned().collect();
        Ok(gaps(Reach { service, namespace, objects: &objects, ours: &ours }))
    }

    /// Refuses to bring a canary whose ready pods are reached past our routes; `before` is the record of before, and
    /// `coming` are the objects of after. Returns the ways that it does not refuse, for somebody to be told.
    ///
    /// Where the routes are somebody else's it refuses nothing: before the subsets are there, no route of theirs can name
    /// one.
    pub(super) async fn judge_coverage(
        &self,
        release: &ReleaseName,
        (before, after): (Option<&Record>, &Record),
        coming: &[Reference],
        overridden: &[Guard],
    ) -> Result<Vec<Gap>, Error> {
        let Some(canary) = after.standing.version_of(Role::Canary) else { return Ok(Vec::new()) };
        if overridden.contains(&Guard::Uncovered) {
            return Ok(Vec::new());
        }
        let gaps = self.gaps(release, after, coming).await?;
        let is_known = before.is_some_and(|before| before.standing.version_of(Role::Canary) == Some(canary));
        let Some(gap) = gaps.first().filter(|_| !is_known && after.routes != Routes::External) else {
            return Ok(gaps);
        };
        let pods = self.ready(release.namespace.as_str(), &after.service, canary).await?;
        if pods.ready > 0 {
            let message = format!(
                "version `{canary}` has {} ready pods, and {gap}: whoever comes by it may get them",
                pods.ready
            );
            Guard::Uncovered.refuse(overridden, message, gap.instead)?;
        }
        Ok(gaps)
    }
}
