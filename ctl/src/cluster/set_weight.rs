//! A weight on a cluster: the record, then the objects that carry it, and nothing else.

use super::objects::WriteMode;
use super::{Cluster, Error, StoredRecord};
use crate::plan::{Plan, Record, Reference, plan_config_update};
use crate::spec::ReleaseName;
use assignment::Weight;
use assignment::contract::Until;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Writes of other releases to the same object can come between; so many in a row are somebody's loop.
pub(super) const ATTEMPTS: u32 = 8;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The share.
    pub weight: Weight,
    /// When it ends by itself.
    pub until: Option<Until>,
    /// The verb that asks.
    pub why: &'static str,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightUpdate {
    /// The record afterwards.
    pub stored: StoredRecord,
    /// The changes.
    pub plan: Plan,
}

impl Cluster {
    /// Gives a release's canary another share.
    ///
    /// Fails where somebody else has changed the release since it was read, and where `apply` did not come to its end.
    /// Killed after the record was written, the next `weight` or `apply` carries it out.
    pub async fn set_weight(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        asked: Asked,
    ) -> Result<WeightUpdate, Error> {
        stored.record.set_weight(asked.weight, asked.until, &self.user, asked.why);
        // Made before the first write, so that a release that is not carried anywhere is no half-done weight.
        self.plan_weight(release, &stored).await?;
        self.save_record(release, &mut stored).await?;
        let plan = self.write_weight(release, &stored).await?;
        Ok(WeightUpdate { stored, plan })
    }

    /// What a weight would write.
    pub async fn plan_weight(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let observed = self.configurations(&stored.record).await?;
        Ok(plan_config_update(&release.to_string(), &stored.record, &observed)?)
    }

    /// Writes what the record says into the objects that carry it, again where others were quicker.
    ///
    /// Fails where somebody else has written the record since: what this one says is over.
    pub(super) async fn write_weight(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<Plan, Error> {
        let plan = async || {
            let plan = self.plan_weight(release, stored).await?;
            // After the objects were read: whoever writes them later is noticed by their versions.
            self.ensure_current(release, stored).await?;
            Ok(plan)
        };
        self.apply_with_retry(plan).await
    }

    /// Carries out a plan that writes shared objects, and makes it anew where somebody else was quicker.
    pub(super) async fn apply_with_retry(
        &self,
        plan: impl AsyncFn() -> Result<Plan, Error>,
    ) -> Result<Plan, Error> {
        let mut attempt = 0;
        loop {
            let made = plan().await?;
            match self.carry_out_all(&made).await {
                Err(Error::Stale { .. }) if attempt < ATTEMPTS => attempt += 1,
                done => return done.map(|()| made),
            }
            tokio::time::sleep(pause(attempt)).await;
        }
    }

    async fn carry_out_all(&self, plan: &Plan) -> Result<(), Error> {
        for change in &plan.changes {
            self.carry_out(change, WriteMode::Commit).await?;
        }
        Ok(())
    }

    /// The objects that hold the configuration of a release's proxies, as they are.
    pub(super) async fn configurations(&self, record: &Record) -> Result<BTreeMap<Reference, Value>, Error> {
        self.get_all(record.config_objects()).await
    }
}

/// Longer each time, and never the same for two that wait: 20 to 40 ms at first, 0.6 to 1.3 s at last.
pub(super) fn pause(attempt: u32) -> Duration {
    let mut byte = [0];
    // Without randomness they meet again, which the next attempt survives.
    let _unlucky = getrandom::fill(&mut byte);
    let [jitter] = byte;
    let base = 20_u64 << attempt.min(5);
    Duration::from_millis(base + base * u64::from(jitter) / 256)
}
