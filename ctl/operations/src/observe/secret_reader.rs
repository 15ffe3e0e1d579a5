//! Reads single keys of Secrets in one namespace: what a person has put there for the driver of a rollout.

use crate::client::ApiRequest;
use crate::{Cluster, Error};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};

/// Reads Secrets of one namespace.
#[derive(Clone)]
pub struct SecretReader {
    client: Client,
    namespace: String,
}

impl Cluster {
    /// Reads Secrets of a namespace.
    pub fn secrets(&self, namespace: &str) -> SecretReader {
        SecretReader::new(self.client.client.clone(), namespace)
    }
}

impl SecretReader {
    pub(crate) fn new(client: Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The value of a key; `None` if there is no such Secret, or it has no such key. Bytes that are no UTF-8 are an empty text.
    ///
    /// # Errors
    ///
    /// If the Secret may not be read, or the API server does not answer.
    pub async fn read(&self, name: &str, key: &str) -> Result<Option<String>, Error> {
        let namespace = self.namespace.as_str();
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let request = ApiRequest { verb: "get", resource: "secrets", group: "", namespace, name };
        let secret = api.get_opt(name).await.map_err(|error| request.error(error))?;
        let data = secret.and_then(|secret| secret.data).unwrap_or_default();
        Ok(data.get(key).map(|bytes| str::from_utf8(&bytes.0).unwrap_or_default().to_owned()))
    }
}
