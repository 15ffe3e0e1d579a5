//! Whether the routes of a release are there: without them the filter's word leads nowhere, and a session that it calls
//! canary would be answered by stable.

use super::desired::Reconciliation;
use super::refusal::Attempt;
use super::{Cluster, Error};
use crate::manifest::Stage;
use crate::plan::{OwnedObject, Record, Ways, choose, is_lost, order};
use crate::spec::{Release, ReleaseName, Routes, version_subset};
use assignment::contract::HeaderNames;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use serde_json::Value;

impl Cluster {
    /// Whether a `VirtualService` leads to this version by its header: one of ours, or where the routes are somebody
    /// else's, any in the release's namespace.
    pub async fn has_route(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
    ) -> Result<bool, Error> {
        let value = format!("{release}/{version}");
        if record.routes != Routes::External {
            let ways: Vec<_> = record.objects.iter().filter(|(stage, _)| stage.is_way()).collect();
            let observed = self.get_all(ways.iter().map(|(_, reference)| reference)).await?;
            let way = Ways::of(&release.to_string(), record);
            let is_there = |(stage, reference): &&&OwnedObject| match (stage, observed.get(reference)) {
                (_, None) => false,
                (Stage::Edits, Some(body)) => !is_lost(body, &way, version),
                (_, Some(body)) => leads(body, &value),
            };
            return Ok(ways.iter().all(|kept| is_there(&kept)));
        }
        let theirs = self.virtual_services(release.namespace.as_str()).await?;
        Ok(theirs.iter().any(|body| leads(body, &value)))
    }

    /// Decides who writes the routes where the file does not say, once for all: what was decided stays. Says why.
    pub(super) async fn choose(
        &self,
        release: &Release,
        before: Option<&Record>,
        record: &mut Record,
    ) -> Result<Vec<String>, Error> {
        if release.routes.is_some() {
            return Ok(Vec::new());
        }
        if let Some(before) = before {
            record.routes = before.routes;
            return Ok(Vec::new());
        }
        let found = self.virtual_services(release.name.namespace.as_str()).await?;
        let (routes, why) = choose(&Ways::of(&release.name.to_string(), record), &found)?;
        record.routes = routes;
        Ok(why.into_iter().collect())
    }

    /// Adds which routes Istio will try first, where ours stand beside those of others. Fails where ours would never be.
    pub(super) async fn order(
        &self,
        release: &Release,
        record: &Record,
        reconciliation: &Reconciliation,
        mut notes: Vec<String>,
    ) -> Result<Vec<String>, Error> {
        if record.routes == Routes::External {
            return Ok(notes);
        }
        let found = self.virtual_services(release.name.namespace.as_str()).await?;
        let ways = Ways::of(&release.name.to_string(), record);
        notes.extend(order(&ways, &reconciliation.desired, &reconciliation.observed, &found)?);
        Ok(notes)
    }

    /// The first `VirtualService` of the release's namespace that is not ours and leads to the subset of a version.
    pub(super) async fn names_subset(
        &self,
        release: &ReleaseName,
        record: &Record,
        version: &str,
    ) -> Result<Option<String>, Error> {
        let (namespace, host) = (release.namespace.as_str(), record.service.name.as_str());
        let theirs = self.virtual_services(namespace).await?;
        let found = theirs.iter().find(|body| leads_to(body, host, &version_subset(version)));
        Ok(found.and_then(|body| body.pointer("/metadata/name")?.as_str().map(str::to_owned)))
    }

    pub(super) async fn virtual_services(&self, namespace: &str) -> Result<Vec<Value>, Error> {
        let kind = GroupVersionKind::gvk("networking.istio.io", "v1", "VirtualService");
        let resource = ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &resource);
        let (plural, group) = (resource.plural.as_str(), resource.group.as_str());
        let attempt = Attempt { verb: "list", resource: plural, group, namespace, name: "" };
        let found = api.list(&ListParams::default()).await.map_err(|error| attempt.refused(error))?;
        let body = |object| serde_json::to_value(object).unwrap_or_default();
        Ok(found.items.into_iter().map(body).collect())
    }
}

/// Whether one of its routes is taken when our header has this value.
fn leads(virtual_service: &Value, value: &str) -> bool {
    let path = format!("/headers/{}/exact", HeaderNames::default().routing);
    let routes = virtual_service.pointer("/spec/http").and_then(Value::as_array).into_iter().flatten();
    let matches = routes.filter_map(|route| route.get("match")?.as_array()).flatten();
    matches.filter_map(|one| one.pointer(&path)?.as_str()).any(|found| found == value)
}

/// Whether one of its routes, mirrors left out, ends at this subset of a Service, in whichever spelling of its name.
fn leads_to(virtual_service: &Value, service: &str, subset: &str) -> bool {
    let routes = virtual_service.pointer("/spec/http").and_then(Value::as_array).into_iter().flatten();
    let destinations = routes.filter_map(|route| route.get("route")?.as_array()).flatten();
    let text = |one: &Value, field: &str| {
        let found = one.pointer(&format!("/destination/{field}")).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let is_it = |one: &Value| {
        let host = text(one, "host");
        host.split('.').next() == Some(service) && text(one, "subset") == subset
    };
    destinations.into_iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_route_ends_at_a_subset_of_its_service_however_that_is_spelled() {
        let body = |host: &str| json!({"spec": {"http": [{"route": [{"destination": {"host": host, "subset": "v1"}}]}]}});
        assert!(leads_to(&body("shop"), "shop", "v1"));
        assert!(leads_to(&body("shop.shop.svc.cluster.local"), "shop", "v1"));
        assert!(!leads_to(&body("blog"), "shop", "v1"));
        assert!(!leads_to(&body("shop"), "shop", "v2"));
    }

    #[test]
    fn a_route_leads_to_the_version_that_its_header_names_and_to_no_other() {
        let body = json!({"spec": {"http": [
            {"match": [{"uri": {"prefix": "/"}, "headers": {"x-canary-version": {"exact": "shop/shop/v2"}}}]},
            {"route": []},
        ]}});
        assert!(leads(&body, "shop/shop/v2"));
        assert!(!leads(&body, "shop/shop/v1"));
    }
}
