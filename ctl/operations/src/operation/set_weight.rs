//! A weight on a cluster: the record, then the objects that carry it, and nothing else.

use crate::client::WriteMode;
use crate::client::backoff::{MAX_CONFLICTS, backoff};
use crate::operation::checks::now;
use crate::{Cluster, Error, StoredRecord};
use assignment::Weight;
use assignment::contract::{Role, Until};
use canary_release::object::Reference;
use canary_release::plan::{Plan, plan_config_update};
use canary_release::preflight::PreflightCheck;
use canary_release::record::{Author, Expiry, Operation, Record};
use canary_release::spec::ReleaseName;
use canary_release::state::{ScaledDown, Undersized};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// The requested weight and its expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightRequest<'a> {
    /// The share.
    pub weight: Weight,
    /// When it ends by itself; `None` keeps the end of the weight before it, if that is still to come.
    pub expires_in: Option<Expiry>,
    /// The generation that the caller has seen.
    pub expected_generation: Option<u64>,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
}

/// A weight whose checks have passed; [`Cluster::set_weight`] writes it.
#[derive(Clone, Debug)]
pub struct CheckedWeight {
    release: ReleaseName,
    stored: StoredRecord,
    new: NewWeight,
    scaled_down: Option<ScaledDown>,
    undersized: Option<Undersized>,
}

/// A weight with its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewWeight {
    pub(crate) weight: Weight,
    pub(crate) until: Option<Until>,
    pub(crate) operation: Operation,
    /// The ready pods of stable, where pods were read.
    pub(crate) stable_pods: Option<usize>,
}

impl CheckedWeight {
    /// The record before.
    pub const fn record(&self) -> &Record {
        &self.stored.record
    }

    /// Stable, where it has too few pods for the users who come back to it. It refuses nothing.
    pub const fn scaled_down(&self) -> Option<&ScaledDown> {
        self.scaled_down.as_ref()
    }

    /// The canary, where it gets all users with too few pods for them. It refuses nothing.
    pub const fn undersized(&self) -> Option<&Undersized> {
        self.undersized.as_ref()
    }

    /// The stored record as it would be: unchanged where it has this weight already.
    pub fn stored_preview(&self) -> StoredRecord {
        let mut stored = self.stored.clone();
        stored.record = self.preview();
        stored
    }

    /// The record as it would be: the same where it has this weight already.
    pub fn preview(&self) -> Record {
        let mut record = self.stored.record.clone();
        if !self.new.is_set(&self.stored) {
            record.set_weight(
                self.new.weight,
                self.new.until,
                Author::of_a_preview(Timestamp::now()),
                self.new.operation.clone(),
            );
        }
        record
    }
}

impl NewWeight {
    /// Whether a person takes all new users from the canary.
    fn is_zero(&self) -> bool {
        self.weight == Weight::ZERO && self.operation == Operation::Weight
    }

    /// Whether a weight that is set by hand is the record's. A record that was deleted is written again.
    fn is_set(&self, stored: &StoredRecord) -> bool {
        let is_by_hand = self.operation == Operation::Weight;
        is_by_hand && stored.is_there() && stored.record.has_weight(self.weight, self.until)
    }
}

/// The change that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightUpdate {
    /// The record afterwards.
    pub stored: StoredRecord,
    /// The changes.
    pub plan: Plan,
}

impl Cluster {
    /// Checks a weight. Lowering it is refused by a pause alone, and zero by nothing.
    ///
    /// # Errors
    ///
    /// If the release is at another generation than expected, has no canary, or a preflight check fails.
    pub async fn check_weight(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        request: WeightRequest<'_>,
    ) -> Result<CheckedWeight, Error> {
        if request.weight > Weight::ZERO {
            stored.ensure_trusted(release)?;
        }
        let record = &stored.record;
        let found = record.state.generation;
        if let Some(expected) = request.expected_generation.filter(|expected| *expected != found) {
            let (release, last) = (release.to_string(), record.last());
            return Err(Error::Generation { release, expected, found, last });
        }
        let is_off = request.weight == Weight::ZERO
            && record.draining_versions().is_empty()
            && record.to_promote().is_err();
        // Where a canary has left, all users are on stable.
        if record.state.version_of(Role::Canary).is_none() && !is_off {
            return Err(record.no_canary().into());
        }
        let ready = self.check_weight_change(release, record, request.weight, request.skipped).await?;
        let stable_pods = ready.map(|ready| ready.stable);
        let gets_all = ready.filter(|_| request.weight == Weight::FULL);
        let undersized = gets_all.and_then(|ready| ready.undersized(record));
        let until = Expiry::until(request.expires_in, record.state.until, now(), record.on_expiry);
        let new = NewWeight { weight: request.weight, until, operation: Operation::Weight, stable_pods };
        let scaled_down = if request.weight < record.state.weight_at(now()) {
            // A weight is lowered also where pods cannot be read.
            let pods = self.client.service_pods(release.namespace.as_str(), &record.service).await.ok();
            pods.and_then(|pods| {
                record.scaled_down(|version| pods.of_version(&record.service, version).ready, now())
            })
        } else {
            None
        };
        let mut stored = stored;
        if new.is_zero() {
            stored.begin_emergency();
        }
        Ok(CheckedWeight { release: release.clone(), stored, new, scaled_down, undersized })
    }

    /// Gives a release's canary another share. One that it has already makes no generation; what an operation that was killed has left
    /// to write is written.
    ///
    /// # Errors
    ///
    /// If another operator has changed the release since it was read, or `apply` has not finished. If it was killed after
    /// the record was written, the next `weight` or `apply` carries it out.
    ///
    /// Zero is an emergency: what another client writes at the same moment is read, and the weight written after it.
    pub async fn set_weight(&self, checked: CheckedWeight) -> Result<WeightUpdate, Error> {
        let CheckedWeight { release, mut stored, new, .. } = checked;
        let mut attempt = 0;
        loop {
            match self.write_new_weight(&release, stored.clone(), new.clone()).await {
                Err(error) if new.is_zero() && error.is_overtaken() && attempt < MAX_CONFLICTS => {
                    attempt += 1;
                }
                done => return done,
            }
            tokio::time::sleep(backoff(attempt)).await;
            stored = self.read_again(&release, &stored.record).await?;
            if stored.record.state.version_of(Role::Canary).is_none() {
                return Err(stored.record.no_canary().into());
            }
        }
    }

    /// Writes the record, then the objects.
    pub(crate) async fn write_new_weight(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        new: NewWeight,
    ) -> Result<WeightUpdate, Error> {
        if !new.is_set(&stored) {
            let change = |record: &mut Record| {
                let before = record.state.weight;
                record.set_weight(new.weight, new.until, self.author(), new.operation.clone());
                if let Some(ready) = new.stable_pods {
                    record.note_stable_pods(before, ready);
                }
                record.state.version_of(Role::Canary).is_some()
            };
            if new.is_zero() {
                self.check_deployed(release, &stored).await?;
                Box::pin(self.save_in_emergency(release, &mut stored, change)).await?;
            } else {
                change(&mut stored.record);
                self.check_config_update(release, &stored).await?;
                self.records.save(release, &mut stored).await?;
            }
        }
        let plan = self.write_weight(release, &stored).await?;
        Ok(WeightUpdate { stored, plan })
    }

    /// Fails if no configuration contains the release: `apply` was not completed.
    pub(crate) async fn check_deployed(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(), Error> {
        self.plan_weight(release, stored).await.map(drop)
    }

    /// Plans a record's state, and lets the API server validate the plan, before the record is written: a release without
    /// configuration objects is not left half done, and what the API server refuses leaves no trace.
    pub(crate) async fn check_config_update(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(), Error> {
        let plan = self.plan_weight(release, stored).await?;
        self.check_admission(&plan).await
    }

    /// The plan of a weight. Reads only.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses. If a configuration object does not contain the release.
    pub async fn plan_weight(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let observed = self.configurations(&stored.record).await?;
        if let Err(fault) = stored.check_against(release, &observed) {
            // Objects that another client has just written are newer, too.
            self.records.ensure_current(release, stored).await?;
            return Err(Error::Untrusted { release: release.clone(), fault });
        }
        let record = stored.changeable(release, &observed);
        Ok(plan_config_update(&release.to_string(), &record, &observed)?)
    }

    /// Writes the record's weight into the configuration objects; plans and writes again after a conflict.
    ///
    /// Fails if another client has written the record since: this one is outdated. If the API server refuses a write that it
    /// has validated before, the error says what the record says now.
    pub(crate) async fn write_weight(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<Plan, Error> {
        let plan = async || {
            let plan = self.plan_weight(release, stored).await?;
            // After the objects were read: later writes to them are detected by their `resourceVersion`.
            self.records.ensure_current(release, stored).await?;
            Ok(plan)
        };
        self.apply_with_retry(plan).await.map_err(|error| error.after_record(release, &stored.record))
    }

    /// Executes a plan that writes shared objects, and plans again after a conflict with another writer.
    pub(crate) async fn apply_with_retry(
        &self,
        plan: impl AsyncFn() -> Result<Plan, Error>,
    ) -> Result<Plan, Error> {
        let mut attempt = 0;
        loop {
            let made = plan().await?;
            match self.carry_out_all(&made).await {
                Err(Error::Stale { .. }) if attempt < MAX_CONFLICTS => attempt += 1,
                done => return done.map(|()| made),
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
    }

    async fn carry_out_all(&self, plan: &Plan) -> Result<(), Error> {
        for change in &plan.changes {
            self.client.carry_out(change, WriteMode::Commit).await?;
        }
        Ok(())
    }

    /// The objects that hold the configuration of a release's proxies, as they are.
    pub(crate) async fn configurations(&self, record: &Record) -> Result<BTreeMap<Reference, Value>, Error> {
        self.client.get_all(record.config_inputs()).await
    }
}
