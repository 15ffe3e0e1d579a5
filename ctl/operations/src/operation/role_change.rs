//! Promotions and rollbacks: the record first, then the objects, in an order in which every intermediate state serves
//! all users.
//!
//! ```text
//! promote    record -> default routes -> configuration                -> wait
//! roll back  record -> configuration  -> wait -> default routes, then routes and subsets of removed versions
//! finish     the same: ignored by the filter everywhere -> route -> subset
//! ```
//!
//! Routes and subsets of both versions exist all the time, so no order of these writes can fail a request; the order is
//! chosen by which users must move first. No Deployment or pod is scaled or deleted.

use crate::client::WriteMode;
use crate::client::backoff::{MAX_CONFLICTS, backoff};
use crate::operation::role_change_checks::{CheckedFinish, CheckedPromotion, CheckedRollback};
use crate::stores::lease_manager::Task;
use crate::{Arrival, Cluster, Error, Protected, StoredRecord, WaitOptions};
use canary_release::object::{Reference, Stage};
use canary_release::plan::{Plan, plan_config_update, reroute};
use canary_release::preflight::DefaultRoute;
use canary_release::record::{Record, RollbackTarget};
use canary_release::spec::{ReleaseName, Routes};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// The result of a promotion or a rollback.
#[derive(Debug)]
pub struct RoleChanged {
    /// The record afterwards.
    pub stored: StoredRecord,
    /// The proxies that have reported it.
    pub arrival: Option<Arrival>,
    /// The reason for which it was not seen in every proxy. Everything that moves users is written; routes and subsets of removed versions exist
    /// until a later call has seen it.
    pub not_observed: Option<Box<Error>>,
}

impl Cluster {
    /// The plan that is missing until the cluster has a record's state: routes, then configurations. Reads only.
    ///
    /// # Errors
    ///
    /// If the API server cannot be asked, or refuses. If an object is gone, or holds another configuration.
    pub async fn unfinished(&self, release: &ReleaseName, record: &Record) -> Result<Plan, Error> {
        let observed = self.client.get_all(record.objects.iter().map(|(_, reference)| reference)).await?;
        Self::unfinished_of(release, record, &observed)
    }

    /// The same from objects that were read.
    pub(crate) fn unfinished_of(
        release: &ReleaseName,
        record: &Record,
        observed: &BTreeMap<Reference, Value>,
    ) -> Result<Plan, Error> {
        let mut plan = rerouted(release, record, observed)?;
        plan.changes.extend(plan_config_update(&release.to_string(), record, observed)?.changes);
        Ok(plan)
    }

    /// Makes the canary stable; the old version drains until the deadline. An interrupted promotion is continued.
    ///
    /// Waits first until every proxy runs the current generation: a proxy that lags would get a default route to a
    /// version that its configuration may not have. With `wait` it also waits until every proxy runs the new one.
    ///
    /// # Errors
    ///
    /// Before the first write: if the step is larger than `maxStep`, objects are missing, a proxy does not run the current
    /// generation in time, or another operator has changed the release or holds its Lease.
    pub async fn promote(
        &self,
        checked: CheckedPromotion<'_>,
        waiting: &mut WaitOptions<'_>,
        wait: bool,
    ) -> Result<RoleChanged, Error> {
        self.check_promotion_begins(&checked).await?;
        if checked.canary().is_some() {
            self.wait(&checked.release, &checked.stored.record, waiting).await?;
        }
        let deadline = checked.deadline();
        let CheckedPromotion { release, stored, train_round, .. } = checked;
        let task = Task { verb: "promote", release: &release };
        let wait = wait.then_some(waiting);
        let promotion =
            async || self.promote_locked(&release, stored, (deadline, train_round.as_deref()), wait).await;
        Box::pin(self.leases.with_leases(vec![task.place()], task, promotion)).await
    }

    /// The last checks of a promotion: the size of the step, and that each proxy can be asked. Reads only.
    ///
    /// # Errors
    ///
    /// If one of them refuses.
    pub async fn check_promotion_begins(&self, checked: &CheckedPromotion<'_>) -> Result<(), Error> {
        if checked.canary().is_none() {
            return Ok(());
        }
        checked.check_step()?;
        self.check_proxies_seen(&checked.release, &checked.stored.record).await
    }

    async fn promote_locked(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        (deadline, train_round): (Timestamp, Option<&str>),
        wait: Option<&mut WaitOptions<'_>>,
    ) -> Result<RoleChanged, Error> {
        if stored.record.to_promote()?.is_some() {
            stored.record.promote(deadline, self.author());
            if let Some(round) = train_round {
                stored.record.join_train_round(round);
            }
            self.check_admission(&self.unfinished(release, &stored.record).await?).await?;
            self.records.save(release, &mut stored).await?;
        }
        if !self.reroute(release, &stored).await?.is_empty() {
            self.wait_for_istiod_push(&stored.record).await;
        }
        self.write_weight(release, &stored).await?;
        let mut arrival = None;
        if let Some(waiting) = wait {
            arrival = Some(self.leave(release, &mut stored, waiting).await?);
        }
        Ok(RoleChanged { stored, arrival, not_observed: None })
    }

    /// Rolls a canary or a promotion back, at once or with a deadline until which sessions finish. An interrupted rollback
    /// is continued.
    ///
    /// Users move with the first object that is written; the rest waits for every proxy. No Lease is taken: an emergency
    /// does not wait, and the holder of one is overtaken by the record.
    ///
    /// # Errors
    ///
    /// Before the first write: if objects are missing. That the record cannot be written is none, and neither is that another client, as the driver
    /// of a rollout, writes at the same moment: what that has written is read, and rolled back. That a proxy does not run the new generation in time,
    /// or cannot be asked, is part of the result.
    pub async fn roll_back(
        &self,
        mut checked: CheckedRollback,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<RoleChanged, Error> {
        let mut attempt = 0;
        loop {
            match Box::pin(self.roll_back_once(checked.clone(), waiting)).await {
                Err(error) if error.is_overtaken() && attempt < MAX_CONFLICTS => attempt += 1,
                done => return done,
            }
            tokio::time::sleep(backoff(attempt)).await;
            checked = Box::pin(self.check_rollback_again(checked)).await?;
        }
    }

    async fn roll_back_once(
        &self,
        checked: CheckedRollback,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<RoleChanged, Error> {
        let CheckedRollback { release, mut stored, target, deadline, train_round, .. } = checked;
        if target != RollbackTarget::Done {
            let roll_back = |record: &mut Record| {
                if record.to_roll_back().ok().as_ref() != Some(&target) {
                    return false;
                }
                record.roll_back(&target, deadline, self.author());
                if let Some(round) = &train_round {
                    record.join_train_round(round);
                }
                true
            };
            self.check_deployed(&release, &stored).await?;
            Box::pin(self.save_in_emergency(&release, &mut stored, roll_back)).await?;
        }
        self.write_weight(&release, &stored).await?;
        self.reroute(&release, &stored).await?;
        match self.leave(&release, &mut stored, waiting).await {
            Ok(arrival) => Ok(RoleChanged { stored, arrival: Some(arrival), not_observed: None }),
            Err(error) if error.is_about_proxies() => {
                Ok(RoleChanged { stored, arrival: None, not_observed: Some(Box::new(error)) })
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the drain of versions: their sessions are on stable with their next request, then their routes and subsets go.
    ///
    /// # Errors
    ///
    /// As [`Cluster::roll_back`]. If a proxy does not run the new generation in time: the routes stay then, and the next call
    /// continues. If another operator holds the Lease, and if a route object that is not ours still leads to one of the versions.
    pub async fn finish(
        &self,
        checked: CheckedFinish,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<RoleChanged, Error> {
        self.check_finish_begins(&checked).await?;
        let CheckedFinish { release, mut stored, versions, .. } = checked;
        let task = Task { verb: "finish", release: &release };
        let end = async || {
            if !versions.is_empty() {
                stored.record.finish(&versions, self.author());
                self.check_config_update(&release, &stored).await?;
                self.records.save(&release, &mut stored).await?;
            }
            self.write_weight(&release, &stored).await?;
            self.reroute(&release, &stored).await?;
            let arrival = Some(self.leave(&release, &mut stored, waiting).await?);
            Ok(RoleChanged { stored, arrival, not_observed: None })
        };
        self.leases.with_leases(vec![task.place()], task, end).await
    }

    /// The last check of the end of a drain: each proxy can be asked. Reads only.
    ///
    /// # Errors
    ///
    /// If it refuses.
    pub async fn check_finish_begins(&self, checked: &CheckedFinish) -> Result<(), Error> {
        let mut ended = checked.stored.record.clone();
        ended.leaving.extend(checked.versions.iter().cloned());
        if ended.routes == Routes::GatewayApi {
            Box::pin(self.protect_routes(&checked.release, &ended)).await?;
        }
        self.check_proxies_seen(&checked.release, &checked.stored.record).await
    }

    /// Waits until every proxy runs the record, and takes away what only served versions that have left.
    async fn leave(
        &self,
        release: &ReleaseName,
        stored: &mut StoredRecord,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Arrival, Error> {
        let arrival = self.wait_for_proxies(release, &stored.record, waiting).await?;
        if stored.record.leaving.is_empty() {
            return Ok(arrival);
        }
        self.protect_routes(release, &stored.record).await?;
        let mut narrow = stored.clone();
        narrow.record.leaving.clear();
        let plan = self.reroutes(release, &narrow).await?;
        let mut narrow = narrow.record;
        self.records.ensure_current(release, stored).await?;
        for change in plan.changes {
            self.client.carry_out(&change, WriteMode::Commit).await?;
            // The proxies must have removed what names it before the next is deleted.
            self.wait_for_istiod_push(&narrow).await;
        }
        narrow.disown_left_versions(release);
        stored.record = narrow;
        self.records.save(release, stored).await?;
        Ok(arrival)
    }

    /// Routes of others go before the subsets that they name, and only their owners can take them out.
    pub(crate) async fn protect_routes(&self, release: &ReleaseName, record: &Record) -> Result<(), Error> {
        let leaves = |default: &DefaultRoute| {
            default.selected.as_ref().is_some_and(|one| record.leaving.contains(one))
        };
        if let Some(default) = Box::pin(self.default_route(release, record)).await?.filter(leaves) {
            return Err(Protected::DefaultRoute(Box::new(default)).into());
        }
        if record.routes != Routes::External {
            return Ok(());
        }
        for version in &record.leaving {
            if let Some(route_object) = self.names_subset(release, record, version).await? {
                return Err(Protected::RoutedVersion { version: version.clone(), route_object }.into());
            }
        }
        Ok(())
    }

    /// Writes what is missing until the cluster has the record's state: routes, then configurations.
    ///
    /// # Errors
    ///
    /// If another client has written the record since it was read, and if the API server refuses.
    pub(crate) async fn write_record_state(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<(), Error> {
        self.reroute(release, stored).await?;
        self.write_weight(release, stored).await.map(drop)
    }

    /// Sets the default routes to the record's stable version. Fails if another client has written the record since.
    async fn reroute(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let plan = async || {
            let plan = self.reroutes(release, stored).await?;
            self.records.ensure_current(release, stored).await?;
            Ok(plan)
        };
        self.apply_with_retry(plan).await.map_err(|error| error.after_record(release, &stored.record))
    }

    async fn reroutes(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let leads = |(stage, _): &&(Stage, Reference)| *stage == Stage::Subsets || stage.is_route();
        let objects = stored.record.objects.iter().filter(leads).map(|(_, reference)| reference);
        let observed = self.client.get_all(objects).await?;
        rerouted(release, &stored.changeable(release, &observed), &observed)
    }
}

fn rerouted(
    release: &ReleaseName,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
) -> Result<Plan, Error> {
    Ok(reroute(&release.to_string(), record, observed)?)
}
