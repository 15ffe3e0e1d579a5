//! Reads objects of any kind as JSON: no types for kinds that Istio owns.

use super::pods::selector;
use super::{ApiClient, ApiRequest};
use crate::Error;
use canary_release::object::Reference;
use canary_release::routing::{GATEWAY_API, HTTP_ROUTE_KIND, OTHER_ROUTE_KINDS, REFERENCE_GRANT, RouteKind};
use futures_util::future::try_join_all;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::core::{GroupVersionKind, TypeMeta};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const ISTIO: &str = "networking.istio.io/v1";

impl ApiClient {
    /// An object; `None` if it, or its kind, does not exist.
    ///
    /// # Errors
    ///
    /// If the API server refuses or does not respond.
    pub(crate) async fn get(&self, reference: &Reference) -> Result<Option<Value>, Error> {
        let (api, resource) = self.api(reference);
        let found = api.get_opt(&reference.name).await;
        let found = found.map_err(|error| request("get", reference, &resource).error(error))?;
        Ok(found.map(|object| serde_json::to_value(object).unwrap_or_default()))
    }

    /// Those of the objects that exist. Each is read once, all at the same time.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub(crate) async fn get_all<'r>(
        &self,
        references: impl IntoIterator<Item = &'r Reference>,
    ) -> Result<BTreeMap<Reference, Value>, Error> {
        let references: BTreeSet<&Reference> = references.into_iter().collect();
        let found = try_join_all(references.into_iter().map(async |reference| {
            let body = self.get(reference).await?;
            Ok::<_, Error>(body.map(|body| (reference.clone(), body)))
        }));
        Ok(found.await?.into_iter().flatten().collect())
    }

    /// The `resourceVersion` of those of the objects that exist: their metadata is read and not their contents.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub(crate) async fn versions<'r>(
        &self,
        references: impl IntoIterator<Item = &'r Reference>,
    ) -> Result<BTreeMap<Reference, String>, Error> {
        let found = try_join_all(references.into_iter().map(async |reference| {
            let (api, resource) = self.api(reference);
            let found = api.get_metadata_opt(&reference.name).await;
            let found = found.map_err(|error| request("get", reference, &resource).error(error))?;
            let version = found.and_then(|object| object.metadata.resource_version);
            Ok::<_, Error>(version.map(|version| (reference.clone(), version)))
        }));
        Ok(found.await?.into_iter().flatten().collect())
    }

    /// The objects of a kind in a namespace; in all of them if it is empty.
    ///
    /// # Errors
    ///
    /// If the kind does not exist, and as [`get`](Self::get).
    pub(crate) async fn list(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
    ) -> Result<Vec<Value>, Error> {
        self.list_selected(api_version, kind, namespace, &BTreeMap::new()).await
    }

    /// Those of them that have these labels.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub(crate) async fn list_selected(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<Value>, Error> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api: Api<DynamicObject> = if namespace.is_empty() {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), namespace, &resource)
        };
        let (plural, group) = (resource.plural.as_str(), resource.group.as_str());
        let request = ApiRequest { verb: "list", resource: plural, group, namespace, name: "" };
        let mut params = ListParams::default();
        if !labels.is_empty() {
            params = params.labels(&selector(labels));
        }
        let found = api.list(&params).await.map_err(|error| request.error(error))?;
        // Items of a list of built-in kinds have neither apiVersion nor kind.
        let typed = |mut object: DynamicObject| {
            object.types = Some(TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() });
            serde_json::to_value(object).ok()
        };
        Ok(found.items.into_iter().filter_map(typed).collect())
    }

    /// The `HTTPRoute`s and `GRPCRoute`s of a namespace; none where the Gateway API is not installed, or they may not be read.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list), for other reasons.
    pub(crate) async fn header_routes(&self, namespace: &str) -> Result<Vec<Value>, Error> {
        let lists = RouteKind::ALL.into_iter().map(|kind| self.routes_of(kind, namespace));
        Ok(try_join_all(lists).await?.into_iter().flatten().collect())
    }

    async fn routes_of(&self, kind: RouteKind, namespace: &str) -> Result<Vec<Value>, Error> {
        match self.list(GATEWAY_API, kind.name(), namespace).await {
            Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => Ok(Vec::new()),
            found => found,
        }
    }

    /// The `HTTPRoute`s and `GRPCRoute`s of all namespaces; without the right to list those of a kind, the ones of these. Also whether
    /// that right is missing.
    ///
    /// # Errors
    ///
    /// As [`header_routes`](Self::header_routes).
    pub(crate) async fn header_routes_everywhere(
        &self,
        namespaces: &BTreeSet<String>,
    ) -> Result<(Vec<Value>, bool), Error> {
        let listed = RouteKind::ALL.into_iter().map(async |kind| {
            match self.list(GATEWAY_API, kind.name(), "").await {
                Err(Error::Refused { code: 404, .. }) => Ok::<_, Error>((Vec::new(), false)),
                Err(Error::Forbidden { .. }) => {
                    let lists = namespaces.iter().map(|namespace| self.routes_of(kind, namespace));
                    Ok((try_join_all(lists).await?.into_iter().flatten().collect(), true))
                }
                found => Ok((found?, false)),
            }
        });
        let found: Vec<(Vec<Value>, bool)> = try_join_all(listed).await?;
        let is_partial = found.iter().any(|(_, is_partial)| *is_partial);
        Ok((found.into_iter().flat_map(|(routes, _)| routes).collect(), is_partial))
    }

    /// The routes of the Gateway API of all namespaces; without the right to list those, the `HTTPRoute`s and `GRPCRoute`s of these. Where
    /// it is not installed the first list ends it. Those for connections are read where there are others, or `all` are asked for.
    ///
    /// # Errors
    ///
    /// As [`header_routes`](Self::header_routes).
    pub(crate) async fn gateway_api_routes(
        &self,
        namespaces: &BTreeSet<String>,
        all: bool,
    ) -> Result<Vec<Value>, Error> {
        let mut found = match self.list(GATEWAY_API, HTTP_ROUTE_KIND, "").await {
            Err(Error::Refused { code: 404, .. }) => return Ok(Vec::new()),
            Err(Error::Forbidden { .. }) => {
                return Ok(self.header_routes_everywhere(namespaces).await?.0);
            }
            found => found?,
        };
        for (kind, version) in OTHER_ROUTE_KINDS {
            if !all && found.is_empty() && version != GATEWAY_API {
                continue;
            }
            match self.list(version, kind, "").await {
                Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => {}
                listed => found.extend(listed?),
            }
        }
        Ok(found)
    }

    /// The `ReferenceGrant`s of a namespace, if one of these routes of another namespace has a backend there; `None` if none has, or
    /// they may not be read.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub(crate) async fn grants(
        &self,
        namespace: &str,
        routes: impl Iterator<Item = &Value>,
    ) -> Result<Option<Vec<Value>>, Error> {
        let crosses = |route: &Value| {
            let rules = route.pointer("/spec/rules").and_then(Value::as_array).into_iter().flatten();
            let mut backends = rules.filter_map(|rule| rule.get("backendRefs")?.as_array()).flatten();
            let own = route.pointer("/metadata/namespace").and_then(Value::as_str) == Some(namespace);
            !own && backends.any(|one| one.get("namespace").and_then(Value::as_str) == Some(namespace))
        };
        if !routes.into_iter().any(crosses) {
            return Ok(None);
        }
        let (kind, version) = REFERENCE_GRANT;
        match self.list(version, kind, namespace).await {
            Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => Ok(None),
            listed => listed.map(Some),
        }
    }

    /// The objects of a kind of `networking.istio.io` in a namespace.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub(crate) async fn list_istio(&self, kind: &str, namespace: &str) -> Result<Vec<Value>, Error> {
        self.list(ISTIO, kind, namespace).await
    }

    /// The objects of a kind of `networking.istio.io` in all namespaces; without the right to list those, in these.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub(crate) async fn list_istio_everywhere(
        &self,
        kind: &str,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Value>, Error> {
        match self.list_istio(kind, "").await {
            Err(Error::Forbidden { .. }) => self.list_istio_in(kind, namespaces).await,
            listed => listed,
        }
    }

    /// The objects of a kind of `networking.istio.io` in several namespaces.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub(crate) async fn list_istio_in(
        &self,
        kind: &str,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Value>, Error> {
        let lists = try_join_all(namespaces.iter().map(|namespace| self.list_istio(kind, namespace)));
        Ok(lists.await?.into_iter().flatten().collect())
    }

    pub(super) fn api(&self, reference: &Reference) -> (Api<DynamicObject>, ApiResource) {
        let (group, version) = reference.api_version.split_once('/').unwrap_or(("", &reference.api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &reference.kind));
        (Api::namespaced_with(self.client.clone(), &reference.namespace, &resource), resource)
    }
}

pub(super) fn request<'a>(
    verb: &'static str,
    object: &'a Reference,
    resource: &'a ApiResource,
) -> ApiRequest<'a> {
    ApiRequest {
        verb,
        resource: &resource.plural,
        group: &resource.group,
        namespace: &object.namespace,
        name: &object.name,
    }
}
