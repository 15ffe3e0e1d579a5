//! Whether the objects of a release have the state of its record. An object may contain the module, about 200 kB, so it is read again
//! only when its version or the record has changed; otherwise its metadata is read, less than a hundredth of that.

use crate::{Cluster, Error};
use canary_release::alert::AlertOutbox;
use canary_release::object::Reference;
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use std::collections::BTreeMap;

/// The deployed state at the last observation.
#[derive(Debug, Default)]
pub(super) struct DeployedState(Option<Deployed>);

#[derive(Debug)]
struct Deployed {
    /// The record, without what a rollout changes in it at each interval.
    record: Record,
    /// The `resourceVersion` of each object that had its state.
    versions: BTreeMap<Reference, String>,
}

impl DeployedState {
    /// Whether the objects of a release have the state of its record.
    ///
    /// # Errors
    ///
    /// As [`Cluster::unfinished`].
    pub(super) async fn is_deployed(
        &mut self,
        cluster: &Cluster,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<bool, Error> {
        let mut record = record.clone();
        record.rollout = None;
        record.alerts = AlertOutbox::default();
        if let Some(last) = self.0.as_ref().filter(|last| last.record == record)
            && cluster.client.versions(last.versions.keys()).await? == last.versions
        {
            return Ok(true);
        }
        let objects = record.objects.iter().map(|(_, reference)| reference);
        let observed = cluster.client.get_all(objects).await?;
        let is_deployed = Cluster::unfinished_of(release, &record, &observed)?.is_empty();
        let version = |(reference, body): (Reference, serde_json::Value)| {
            let version = body.pointer("/metadata/resourceVersion")?.as_str()?.to_owned();
            Some((reference, version))
        };
        let versions = observed.into_iter().filter_map(version).collect();
        self.0 = is_deployed.then_some(Deployed { record, versions });
        Ok(is_deployed)
    }
}
