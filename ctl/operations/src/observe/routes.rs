//! Whether the routes of a release exist: without them the routing header has no effect, and a session that the filter
//! assigns to the canary would get stable.

use crate::{Cluster, Error};
use canary_release::object::Stage;
use canary_release::plan::{MissingObject, missing_objects};
use canary_release::record::{OwnedObject, Record};
use canary_release::routing::{
    ROUTE_KIND, WholeService, http_route_leads_by_header, is_lost, leads_by_header, leads_to_subset,
};
use canary_release::spec::{ReleaseName, Routes, ServiceHost, version_subset};

impl Cluster {
    /// Whether a route object leads to this version by its header: one of ours or, if the routes are external, any
    /// in the release's namespace.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses.
    pub async fn has_route(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
    ) -> Result<bool, Error> {
        let value = format!("{release}/{version}");
        if record.routes != Routes::External {
            let routes: Vec<_> = record.objects.iter().filter(|(stage, _)| stage.is_route()).collect();
            let observed = self.client.get_all(routes.iter().map(|(_, reference)| reference)).await?;
            let targets = record.route_targets(&release.to_string());
            let is_there = |(stage, reference): &&&OwnedObject| match (stage, observed.get(reference)) {
                (_, None) => false,
                (Stage::Edits, Some(body)) => !is_lost(body, &targets, version),
                (_, Some(body)) => leads_by_header(body, &value),
            };
            return Ok(routes.iter().all(|kept| is_there(&kept)));
        }
        let theirs = self.client.list_istio(ROUTE_KIND, release.namespace.as_str()).await?;
        if theirs.iter().any(|body| leads_by_header(body, &value)) {
            return Ok(true);
        }
        let whole =
            WholeService { namespace: release.namespace.as_str(), name: record.service.name.as_str() };
        let http_routes = self.client.http_routes(release.namespace.as_str()).await?;
        Ok(http_routes.iter().any(|body| http_route_leads_by_header(body, &value, whole)))
    }

    /// The first object with routes of ours that does not exist.
    pub(crate) async fn missing_route(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<Option<MissingObject>, Error> {
        let observed = self.client.get_all(record.objects.iter().map(|(_, reference)| reference)).await?;
        let missing = missing_objects(&release.to_string(), record, &observed);
        Ok(missing.into_iter().find(|missing| missing.stage.is_route()))
    }

    /// The first route object of the release's namespace that is not ours and leads to the subset of a version.
    pub(crate) async fn names_subset(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
    ) -> Result<Option<String>, Error> {
        let namespace = release.namespace.as_str();
        let service = ServiceHost::new(&record.service.name, namespace);
        let theirs = self.client.list_istio(ROUTE_KIND, namespace).await?;
        let subset = version_subset(version);
        let found = theirs.iter().find(|body| leads_to_subset(body, namespace, &service, &subset));
        Ok(found.and_then(|body| body.pointer("/metadata/name")?.as_str().map(str::to_owned)))
    }
}
