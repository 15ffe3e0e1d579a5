//! Reads the record of a release back from its objects, where the record was deleted or is not to be obeyed.

use crate::stores::stored_record::FoundRecord;
use crate::{Cluster, Error, StoredRecord};
use canary_release::delivery::{beside_config, config_kinds, deployed_config, module_backup};
use canary_release::object::Reference;
use canary_release::record::{Record, RecordFault, RecoveryScope, recover};
use canary_release::routing::ROUTE_KIND;
use canary_release::spec::{Release, ReleaseName};
use serde_json::Value;
use std::collections::BTreeSet;

const ISTIO: &str = "networking.istio.io/v1";

impl Cluster {
    /// The record of a release; where it was deleted, or is not to be obeyed, what the objects say. [`StoredRecord::trust`]
    /// tells these apart. `named` are the [`config_objects`] of the file; without a file there are none, and the objects of all
    /// namespaces have to agree.
    ///
    /// An operation that is no emergency refuses a record that was read back in the place of one that is not obeyed.
    ///
    /// # Errors
    ///
    /// If there is neither a record nor an object, and as [`canary_release::record::recover`].
    pub async fn get_or_recover_record(
        &self,
        release: &ReleaseName,
        named: &BTreeSet<Reference>,
    ) -> Result<StoredRecord, Error> {
        let found = match self.observe_covering(release, named).await {
            // Without the keys, or with a Secret that holds others, it is not known whether it is genuine.
            Err(error @ (Error::Forbidden { .. } | Error::NoKeys { .. })) => {
                return match self.recover_record(release, named).await? {
                    Some(record) => Ok(StoredRecord::new(record)),
                    None => Err(error),
                };
            }
            found => found?,
        };
        let (object, fault) = match found {
            Some(FoundRecord::Genuine(stored)) => return Ok(*stored),
            Some(FoundRecord::Refused(object, fault)) => (Some(object), Some(fault)),
            None => (None, None),
        };
        match (self.recover_record(release, named).await?, object, fault) {
            (Some(record), Some(object), Some(fault)) => {
                Ok(StoredRecord::in_place_of(record, *object, fault))
            }
            (Some(record), ..) => Ok(StoredRecord::new(record)),
            (None, _, Some(fault)) => Err(Error::Untrusted { release: release.clone(), fault }),
            (None, ..) => Err(self.records.unknown(release).await),
        }
    }

    /// The record, refused if a namespace of the file has the release and has not sealed the record: else who has the keys of one namespace, and
    /// writes a record of it alone, would decide in the others.
    async fn observe_covering(
        &self,
        release: &ReleaseName,
        named: &BTreeSet<Reference>,
    ) -> Result<Option<FoundRecord>, Error> {
        let found = self.records.observe(release).await?;
        let Some(FoundRecord::Genuine(stored)) = found else { return Ok(found) };
        let sealing = stored.record.sealing_namespaces(release);
        let outside = |object: &&Reference| !sealing.contains(&object.namespace);
        let unsealed: BTreeSet<Reference> = named.iter().filter(outside).cloned().collect();
        for namespace in unsealed.iter().map(|object| &object.namespace).collect::<BTreeSet<_>>() {
            if self.has_release(release, namespace, &unsealed).await? {
                let fault = RecordFault::Unsealed { namespace: namespace.clone() };
                return Ok(Some(stored.refused(fault)));
            }
        }
        Ok(Some(FoundRecord::Genuine(stored)))
    }

    /// Whether a configuration in a namespace contains the release, as `apply` has written it.
    async fn has_release(
        &self,
        release: &ReleaseName,
        namespace: &str,
        named: &BTreeSet<Reference>,
    ) -> Result<bool, Error> {
        for (api_version, kind) in config_kinds() {
            let objects = self.list_or_get(api_version, kind, namespace, named).await?;
            if objects.iter().any(|object| is_deployed_in(object, release)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The record of a release to be shown: where its seals may not be checked, it is what it says.
    ///
    /// # Errors
    ///
    /// As [`get_or_recover_record`](Self::get_or_recover_record).
    pub async fn show_record(
        &self,
        release: &ReleaseName,
        named: &BTreeSet<Reference>,
    ) -> Result<StoredRecord, Error> {
        if let Err(error @ Error::Forbidden { .. }) = self.records.observe(release).await
            && let Ok(Some(record)) = self.records.find_unverified(release).await
        {
            return Ok(StoredRecord::unverified(record, error.to_string()));
        }
        self.get_or_recover_record(release, named).await
    }

    /// The releases that the proxies have and that have no record, each with what its objects say. The record was deleted, or its
    /// namespace. Without namespaces those of all; none where the configurations of all namespaces may not be listed.
    ///
    /// # Errors
    ///
    /// If the API server refuses or does not respond.
    pub async fn releases_without_record(
        &self,
        namespaces: &[String],
    ) -> Result<Vec<(ReleaseName, Result<Record, Error>)>, Error> {
        let mut deployed = BTreeSet::new();
        for (api_version, kind) in config_kinds() {
            match self.client.list(api_version, kind, "").await {
                Err(Error::Forbidden { .. } | Error::Refused { code: 404, .. }) => {}
                listed => deployed.extend(listed?.iter().flat_map(deployed_releases)),
            }
        }
        if !namespaces.is_empty() {
            deployed.retain(|name| namespaces.iter().any(|namespace| name.namespace.as_str() == namespace));
        }
        let mut found = Vec::new();
        for name in self.without_record(deployed).await? {
            let record = self.recover_record(&name, &BTreeSet::new()).await;
            if let Some(record) = record.transpose() {
                found.push((name, record));
            }
        }
        Ok(found)
    }

    /// Those of these releases that have no record. One whose record may not be read is none of them.
    ///
    /// # Errors
    ///
    /// If the API server refuses or does not respond.
    pub(crate) async fn without_record(
        &self,
        mut names: BTreeSet<ReleaseName>,
    ) -> Result<Vec<ReleaseName>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        match self.records.list_objects(&[], "").await {
            Err(Error::Forbidden { .. }) => {}
            listed => {
                for (name, _) in listed? {
                    names.remove(&name);
                }
            }
        }
        let mut found = Vec::new();
        for name in names {
            // One that cannot be read is there.
            if let Ok(None) = self.records.find_unverified(&name).await {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Accepts the state of a record whose seals are not genuine, because an operator has looked at it: that of an earlier version of this library, or
    /// one that was copied from another cluster. What it says of objects, proxies, modules and rollouts is not accepted: that follows from the
    /// objects and the file.
    ///
    /// # Errors
    ///
    /// If there is no such record, or it cannot be read.
    pub async fn accept_record(&self, release: &Release) -> Result<StoredRecord, Error> {
        let name = &release.name;
        let (object, fault) = match self.records.observe(name).await? {
            Some(FoundRecord::Refused(object, fault)) => (object, fault),
            Some(FoundRecord::Genuine(stored)) => return Ok(*stored),
            None => return self.records.get(name).await,
        };
        let untrusted = || Error::Untrusted { release: name.clone(), fault: fault.clone() };
        let found = self.records.find_unverified(name).await?.ok_or_else(untrusted)?;
        let recovered = self.recover_record(name, &config_objects(release)?).await?;
        let record = recovered.unwrap_or_else(|| {
            let mut first = Record::first(release, found.state.clone());
            first.draining.clone_from(&found.draining);
            first
        });
        Ok(StoredRecord::in_place_of(record.with_memory_of(found), *object, fault))
    }

    /// Writes the record that the objects say in the place of one that is not obeyed, or that was deleted.
    ///
    /// # Errors
    ///
    /// If another client has changed the record since it was read, and if the API server refuses.
    pub async fn rebuild_record(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
    ) -> Result<StoredRecord, Error> {
        if !stored.is_there() {
            self.records.save(release, &mut stored).await?;
        }
        Ok(stored)
    }

    /// The record of the release of a file, if there is one: that of an earlier `apply` whose record was deleted is read back.
    pub(crate) async fn find_or_recover(&self, release: &Release) -> Result<Option<StoredRecord>, Error> {
        let found = self.records.find(&release.name).await?;
        let sealing = found.as_ref().map(|found| found.record.sealing_namespaces(&release.name));
        let deployed = self.deployed_outside(release, &sealing.unwrap_or_default()).await?;
        let Some(namespace) = deployed else { return Ok(found) };
        if found.is_some() {
            let fault = RecordFault::Unsealed { namespace };
            return Err(Error::Untrusted { release: release.name.clone(), fault });
        }
        let record = self.recover_record(&release.name, &config_objects(release)?).await?;
        Ok(record.map(StoredRecord::new))
    }

    /// A namespace with a configuration object that the file names and that contains the release, other than these.
    async fn deployed_outside(
        &self,
        release: &Release,
        namespaces: &BTreeSet<String>,
    ) -> Result<Option<String>, Error> {
        let mut wanted = config_objects(release)?;
        wanted.retain(|object| !namespaces.contains(&object.namespace));
        let found = self.client.get_all(&wanted).await?;
        let deployed = found.iter().find(|(_, object)| is_deployed_in(object, &release.name));
        Ok(deployed.map(|(reference, _)| reference.namespace.clone()))
    }

    async fn recover_record(
        &self,
        release: &ReleaseName,
        named: &BTreeSet<Reference>,
    ) -> Result<Option<Record>, Error> {
        let mut objects = Vec::new();
        for (api_version, kind) in config_kinds() {
            objects.extend(self.list_everywhere(api_version, kind, release, named).await?);
        }
        let own = release.namespace.as_str();
        for kind in ["DestinationRule", ROUTE_KIND] {
            objects.extend(self.client.list(ISTIO, kind, own).await?);
        }
        // What versions have for themselves beside routes of others.
        objects.extend(Box::pin(self.client.header_routes(own)).await?);
        match self.client.list("v1", "Service", own).await {
            Err(Error::Forbidden { .. }) => {}
            services => objects.extend(services?),
        }
        // What a module rollout that was interrupted has left.
        objects.extend(self.get_if_allowed(&module_backup(release)).await?);
        let namespaces: BTreeSet<String> = named.iter().map(|object| object.namespace.clone()).collect();
        let scope = if namespaces.is_empty() { RecoveryScope::All } else { RecoveryScope::File(&namespaces) };
        Ok(recover(release, &objects, scope, self.author())?)
    }

    /// The objects of a kind in all namespaces; where all may not be listed, in those of the named objects and of the release.
    /// None where the kind does not exist.
    async fn list_everywhere(
        &self,
        api_version: &str,
        kind: &str,
        release: &ReleaseName,
        named: &BTreeSet<Reference>,
    ) -> Result<Vec<Value>, Error> {
        match self.client.list(api_version, kind, "").await {
            Err(Error::Forbidden { .. }) => {}
            Err(Error::Refused { code: 404, .. }) => return Ok(Vec::new()),
            listed => return listed,
        }
        let mut objects = Vec::new();
        let own = release.namespace.to_string();
        let namespaces = named.iter().map(|object| &object.namespace).chain(std::iter::once(&own));
        for namespace in namespaces.collect::<BTreeSet<_>>() {
            objects.extend(self.list_or_get(api_version, kind, namespace, named).await?);
        }
        Ok(objects)
    }

    /// The objects of a kind in a namespace; where they may not be listed, those of them that are named, with those beside
    /// them: `generate rbac` prints rights to single objects alone.
    async fn list_or_get(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        named: &BTreeSet<Reference>,
    ) -> Result<Vec<Value>, Error> {
        match self.client.list(api_version, kind, namespace).await {
            Err(Error::Forbidden { .. }) => {}
            Err(Error::Refused { code: 404, .. }) => return Ok(Vec::new()),
            listed => return listed,
        }
        let named = named.iter().filter(|object| object.namespace == namespace);
        let wanted = named.flat_map(|config| {
            let beside = beside_config(config).map(|(_, object)| object);
            std::iter::once(config.clone()).chain(beside)
        });
        let mut objects = Vec::new();
        for object in wanted.filter(|object| object.api_version == api_version && object.kind == kind) {
            objects.extend(self.get_if_allowed(&object).await?);
        }
        Ok(objects)
    }

    /// An object; `None` if it may not be read either. Who may not read it has not written it: `apply` reads the objects that it is
    /// going to write, and an embedded module is printed with the right to its backup.
    async fn get_if_allowed(&self, object: &Reference) -> Result<Option<Value>, Error> {
        match self.client.get(object).await {
            Err(Error::Forbidden { .. }) => Ok(None),
            found => found,
        }
    }
}

/// The objects that hold the configurations of a release's proxies, as its file names them.
///
/// # Errors
///
/// If their labels and annotations cannot be merged.
pub fn config_objects(release: &Release) -> Result<BTreeSet<Reference>, Error> {
    let first = crate::stores::first_record::first_record(release);
    Ok(canary_release::plan::config_references(release, &first)?.into_iter().collect())
}

/// The releases in a configuration that `apply` has written.
pub(crate) fn deployed_releases(object: &Value) -> Vec<ReleaseName> {
    let config = deployed_config(object).ok().flatten();
    let releases = config.into_iter().flat_map(|config| config.releases);
    let deployed = releases.filter(|(_, entry)| entry.installed_at_seconds > 0);
    deployed.filter_map(|(name, _)| name.parse().ok()).collect()
}

/// Objects that `generate` has printed have no time of installation, and no record.
fn is_deployed_in(object: &Value, release: &ReleaseName) -> bool {
    let config = deployed_config(object).ok().flatten();
    let entry = config.and_then(|mut config| config.releases.remove(&release.to_string()));
    entry.is_some_and(|entry| entry.installed_at_seconds > 0)
}
