//! The clusters that the control plane of this one reads, too. Their gateways are not among the pods here, so no operation waits for
//! them.

use crate::client::ApiRequest;
use crate::{Cluster, Error};
use canary_release::destination_rule::ROOT_NAMESPACE;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ListParams, PartialObjectMeta};
use kube::{Api, ResourceExt as _};
use std::collections::BTreeSet;

/// The label of a cluster's kubeconfig by `istioctl create-remote-secret`, for istiod to read.
const REMOTE: &str = "istio/multiCluster=true";

/// The cluster that such a Secret is of.
const CLUSTER: &str = "networking.istio.io/cluster";

impl Cluster {
    /// Their names. None where Secrets of istiod may not be listed; of those that may be only the metadata is read.
    ///
    /// # Errors
    ///
    /// If the API server does not respond.
    pub(crate) async fn remote_clusters(&self) -> Result<BTreeSet<String>, Error> {
        let secrets: Api<Secret> = Api::namespaced(self.client.client.clone(), ROOT_NAMESPACE);
        let request =
            ApiRequest { verb: "list", resource: "secrets", group: "", namespace: ROOT_NAMESPACE, name: "" };
        let listed = secrets.list_metadata(&ListParams::default().labels(REMOTE)).await;
        match listed.map_err(|error| request.error(error)) {
            Ok(listed) => Ok(listed.items.iter().map(cluster_name).collect()),
            Err(Error::Forbidden { .. }) => Ok(BTreeSet::new()),
            Err(error) => Err(error),
        }
    }
}

fn cluster_name(secret: &PartialObjectMeta<Secret>) -> String {
    secret.annotations().get(CLUSTER).cloned().unwrap_or_else(|| secret.name_any())
}
