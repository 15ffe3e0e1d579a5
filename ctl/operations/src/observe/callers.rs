//! The Services, `ServiceEntry`s, `WorkloadEntry`s and `Sidecar`s by which calls reach, or do not reach, the routes of a release.

use crate::observe::rules::namespaces;
use crate::{Cluster, Error};
use canary_release::destination_rule::ROOT_NAMESPACE;
use canary_release::object::Reference;
use canary_release::record::Record;
use serde_json::Value;

const SIDECAR_KIND: &str = "Sidecar";
const SERVICE_ENTRY_KIND: &str = "ServiceEntry";
const WORKLOAD_ENTRY_KIND: &str = "WorkloadEntry";

impl Cluster {
    /// The Services of a namespace; without the right to list them this one, if it exists.
    pub(crate) async fn services(&self, namespace: &str, name: &str) -> Result<Vec<Value>, Error> {
        match self.client.list("v1", "Service", namespace).await {
            Err(Error::Forbidden { .. }) => {
                let own = self.client.get(&Reference::new("v1", "Service", namespace, name)).await?;
                Ok(own.into_iter().collect())
            }
            listed => listed,
        }
    }

    /// The `ServiceEntry`s of all namespaces; without the right to list these, those of this one that may be listed.
    pub(crate) async fn service_entries(&self, namespace: &str) -> Result<Vec<Value>, Error> {
        match self.client.list_istio(SERVICE_ENTRY_KIND, "").await {
            Err(Error::Forbidden { .. }) => self.of_kind_in(SERVICE_ENTRY_KIND, namespace).await,
            Err(Error::Refused { code: 404, .. }) => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// The `WorkloadEntry`s of a namespace that may be listed.
    pub(crate) async fn workload_entries(&self, namespace: &str) -> Result<Vec<Value>, Error> {
        self.of_kind_in(WORKLOAD_ENTRY_KIND, namespace).await
    }

    /// The objects of a kind of Istio in a namespace; none without the right to list them.
    async fn of_kind_in(&self, kind: &str, namespace: &str) -> Result<Vec<Value>, Error> {
        match self.client.list_istio(kind, namespace).await {
            Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// The `Sidecar`s of all namespaces; without the right to list these, those of the release, of its proxies and of the root that may be
    /// listed.
    pub(crate) async fn sidecars(&self, namespace: &str, record: &Record) -> Result<Vec<Value>, Error> {
        match self.client.list_istio(SIDECAR_KIND, "").await {
            Err(Error::Forbidden { .. }) => {}
            Err(Error::Refused { code: 404, .. }) => return Ok(Vec::new()),
            listed => return listed,
        }
        let mut namespaces = namespaces(record, namespace);
        namespaces.insert(ROOT_NAMESPACE.to_owned());
        let mut found = Vec::new();
        for namespace in &namespaces {
            match self.client.list_istio(SIDECAR_KIND, namespace).await {
                Err(Error::Forbidden { .. }) => {}
                listed => found.extend(listed?),
            }
        }
        Ok(found)
    }
}
