//! Reads the record of a release back from its objects, where the record was deleted.

use crate::{Cluster, Error, StoredRecord};
use canary_release::delivery::{config_kinds, deployed_config};
use canary_release::plan::module_backup;
use canary_release::record::{Record, recover};
use canary_release::routing::ROUTE_KIND;
use canary_release::spec::{Release, ReleaseName};
use serde_json::Value;
use std::collections::BTreeSet;

const ISTIO: &str = "networking.istio.io/v1";

impl Cluster {
    /// The record of a release; where it was deleted, what the objects in all namespaces say. Without the right to list those,
    /// `namespaces` and the release's own are searched. [`StoredRecord::is_there`] tells the two apart.
    ///
    /// # Errors
    ///
    /// If there is neither a record nor an object, and as [`find_record`](Self::find_record).
    pub async fn get_or_recover_record(
        &self,
        release: &ReleaseName,
        namespaces: &BTreeSet<String>,
    ) -> Result<StoredRecord, Error> {
        if let Some(stored) = self.records.find(release).await? {
            return Ok(stored);
        }
        match self.recover_record(release, namespaces).await? {
            Some(record) => Ok(StoredRecord::new(record)),
            None => {
                Err(Error::Unknown { release: release.to_string(), known: self.records.names(release).await })
            }
        }
    }

    /// The record of the release of a file, if there is one: that of an earlier `apply` whose record was deleted is read back.
    pub(super) async fn find_or_recover(&self, release: &Release) -> Result<Option<StoredRecord>, Error> {
        let found = self.records.find(&release.name).await?;
        if found.is_some() || !self.is_deployed(release).await? {
            return Ok(found);
        }
        let namespaces = release.gateways.iter().map(|gateway| gateway.pods.namespace.to_string());
        let record = self.recover_record(&release.name, &namespaces.collect()).await?;
        Ok(record.map(StoredRecord::new))
    }

    /// Whether a configuration object that the file names contains the release.
    async fn is_deployed(&self, release: &Release) -> Result<bool, Error> {
        let first = crate::apply::first_record(release);
        let wanted = canary_release::plan::config_references(release, &first)?;
        let found = self.client.get_all(&wanted).await?;
        let contains = |object: &Value| {
            let config = deployed_config(object).ok().flatten();
            config.is_some_and(|config| config.releases.contains_key(&release.name.to_string()))
        };
        Ok(found.values().any(contains))
    }

    async fn recover_record(
        &self,
        release: &ReleaseName,
        namespaces: &BTreeSet<String>,
    ) -> Result<Option<Record>, Error> {
        let mut objects = Vec::new();
        for (api_version, kind) in config_kinds() {
            objects.extend(self.list_everywhere(api_version, kind, release, namespaces).await?);
        }
        let own = release.namespace.as_str();
        for kind in ["DestinationRule", ROUTE_KIND] {
            objects.extend(self.client.list(ISTIO, kind, own).await?);
        }
        // What a module rollout that was interrupted has left.
        objects.extend(self.client.get_all([&module_backup(release)]).await?.into_values());
        Ok(recover(release, &objects, &self.user))
    }

    /// The objects of a kind in all namespaces, or in these where all may not be listed. None where the kind does not exist.
    async fn list_everywhere(
        &self,
        api_version: &str,
        kind: &str,
        release: &ReleaseName,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Value>, Error> {
        match self.client.list(api_version, kind, "").await {
            Err(Error::Forbidden { .. }) => {}
            Err(Error::Refused { code: 404, .. }) => return Ok(Vec::new()),
            listed => return listed,
        }
        let mut objects = Vec::new();
        let own = release.namespace.to_string();
        for namespace in namespaces.iter().chain(std::iter::once(&own)).collect::<BTreeSet<_>>() {
            match self.client.list(api_version, kind, namespace).await {
                // Another gateway's namespace, or a kind that the operator does not use.
                Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => {}
                listed => objects.extend(listed?),
            }
        }
        Ok(objects)
    }
}
