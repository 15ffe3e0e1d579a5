//! `rollback`, `weight 0` and `uninstall` take effect while another client writes the record, and where it cannot be written.
//!
//! The record that an emergency begins with is genuine or was read back from the objects. Where another client writes it at the same moment it is
//! read again; where that does not end, or the API server refuses the write, the objects are written without it. They are newer than the record on
//! the cluster then, so that one is not obeyed, and `recover` reads it back.

use crate::client::backoff::{MAX_CONFLICTS, backoff};
use crate::{Cluster, Error, StoredRecord};
use canary_release::object::Reference;
use canary_release::record::Record;
use canary_release::spec::ReleaseName;
use std::collections::BTreeSet;

impl Cluster {
    /// Changes a record and writes it. `change` returns whether it still applies to what another client has written in between.
    ///
    /// # Errors
    ///
    /// If it does not; if the API server refuses the change of the objects, or they cannot be read.
    pub(crate) async fn save_in_emergency(
        &self,
        release: &ReleaseName,
        stored: &mut StoredRecord,
        change: impl Fn(&mut Record) -> bool,
    ) -> Result<(), Error> {
        let mut attempt = 0;
        loop {
            let mut changed = stored.clone();
            if !change(&mut changed.record) {
                let last = changed.record.last();
                return Err(Error::ConcurrentChange { release: release.to_string(), last });
            }
            self.check_removable(release, &changed).await?;
            let saved = Box::pin(self.records.save(release, &mut changed)).await;
            let Err(error) = saved else {
                *stored = changed;
                return Ok(());
            };
            if attempt == MAX_CONFLICTS || !matches!(error, Error::ConcurrentChange { .. }) {
                changed.go_on_unsaved(error.to_string());
                *stored = changed;
                return Ok(());
            }
            attempt += 1;
            tokio::time::sleep(backoff(attempt)).await;
            *stored = self.read_again(release, &stored.record).await?;
        }
    }

    /// The record as another client has written it. What an interrupted `apply` has left in other namespaces is not asked.
    pub(crate) async fn read_again(
        &self,
        release: &ReleaseName,
        record: &Record,
    ) -> Result<StoredRecord, Error> {
        let decides =
            |object: &&Reference| record.proxies.iter().any(|one| one.namespace == object.namespace);
        let named: BTreeSet<Reference> = record.config_objects().filter(decides).cloned().collect();
        let mut stored = Box::pin(self.get_or_recover_record(release, &named)).await?;
        stored.begin_emergency();
        Ok(stored)
    }

    /// Lets the API server validate the configurations, if a proxy has the release.
    async fn check_removable(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<(), Error> {
        match self.check_config_update(release, stored).await {
            Err(Error::Plan(error)) if error.is_not_deployed() => Ok(()),
            checked => checked,
        }
    }
}
