//! Promotions and rollbacks: the record first, then the objects, in the order in which every state between serves everybody.
//!
//! ```text
//! promote    record -> default routes -> configuration                -> wait
//! roll back  record -> configuration  -> wait -> default routes, then routes and subsets of what is gone
//! finish     the same: ignored by the filter everywhere -> route -> subset
//! ```
//!
//! Routes and subsets of both versions are there all the time, so no order of these writes can fail a request; it is
//! chosen by who must move first. Nothing that serves is scaled or deleted.

use super::lease::Task;
use super::objects::WriteMode;
use super::{Arrival, Cluster, Error, StoredRecord, WaitOptions};
use crate::manifest::{Stage, held_configuration};
use crate::plan::{
    self, LostSubset, Plan, Record, Reference, RollbackTarget, lost_subsets, plan_config_update, reroute,
};
use crate::spec::{ReleaseName, Routes, Seconds};
use assignment::contract::{FilterConfig, Position, Stickiness};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a promotion or a rollback has come to.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleChanged {
    /// The record afterwards.
    pub stored: StoredRecord,
    /// Where it was waited for.
    pub arrival: Option<Arrival>,
}

/// How users stick to versions, as the proxies hold it: a file that was edited and not applied yet says something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveSettings {
    /// Whether a user may move when the weight does.
    pub stickiness: Stickiness,
    /// How long pins live.
    pub max_age: Seconds,
    /// Whether sidecars decide too, where nobody is pinned.
    pub is_inside: bool,
}

/// How something is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollbackOptions<'b> {
    /// What.
    pub back: &'b RollbackTarget,
    /// Until when sessions finish on it; without one they end at once.
    pub deadline: Option<Timestamp>,
}

impl Cluster {
    /// What a proxy at this position holds: everything, keys too. Fails where none holds the release: `apply` did not come
    /// so far, or nobody decides there.
    pub async fn held(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
        position: Position,
    ) -> Result<FilterConfig, Error> {
        let is_it = |config: &FilterConfig| config.position == position;
        self.holding(release, stored).await?.into_iter().find(is_it).ok_or_else(|| nobody_holds(release))
    }

    /// How the users of a release stick to their versions. Fails where no proxy holds it.
    pub async fn effective_settings(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<EffectiveSettings, Error> {
        let held = self.holding(release, stored).await?;
        // Inside the mesh nobody is pinned, whatever the file says.
        let edge = held.iter().find(|config| config.position == Position::Edge).or_else(|| held.first());
        let config = edge.and_then(|config| config.releases.get(&release.to_string()));
        let config = config.ok_or_else(|| nobody_holds(release))?;
        let max_age = config.pin.as_ref().and_then(|pin| Seconds::new(pin.max_age_seconds));
        Ok(EffectiveSettings {
            stickiness: config.stickiness,
            max_age: max_age.unwrap_or(Seconds::DAY),
            is_inside: held.iter().any(|config| config.position == Position::Mesh),
        })
    }

    /// The configurations in which the release is.
    async fn holding(
        &self,
        release: &ReleaseName,
        stored: &StoredRecord,
    ) -> Result<Vec<FilterConfig>, Error> {
        let mut held = Vec::new();
        for body in self.configurations(&stored.record).await?.values() {
            let config = held_configuration(body)?;
            held.extend(config.filter(|config| config.releases.contains_key(&release.to_string())));
        }
        Ok(held)
    }

    /// The live versions without their subsets. Reads only.
    pub async fn lost_subsets(&self, record: &Record) -> Result<Vec<LostSubset>, Error> {
        let rules = record.objects.iter().filter(|(stage, _)| *stage == Stage::Subsets);
        let observed = self.get_all(rules.map(|(_, reference)| reference)).await?;
        Ok(lost_subsets(record, &observed))
    }

    /// What is missing until the cluster is as a record says: routes, then configurations. Reads only.
    pub async fn unfinished(&self, release: &ReleaseName, record: &Record) -> Result<Plan, Error> {
        let observed = self.get_all(record.objects.iter().map(|(_, reference)| reference)).await?;
        let mut plan = rerouted(release, record, &observed)?;
        plan.changes.extend(plan_config_update(&release.to_string(), record, &observed)?.changes);
        Ok(plan)
    }

    /// Makes the canary stable. `stored` is what was read; the old version drains until the deadline. Where the last
    /// promotion did not come to its end it is continued.
    ///
    /// Fails before the first write where there is no canary, where objects are missing, and where somebody else was
    /// quicker or is at it. Does not ask whether the canary's pods are ready.
    pub async fn promote(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        deadline: Timestamp,
        wait: Option<&mut WaitOptions<'_>>,
    ) -> Result<RoleChanged, Error> {
        let task = Task { verb: "promote", release };
        let promotion = async || self.promote_locked(release, stored, deadline, wait).await;
        self.with_leases(vec![task.place()], task, promotion).await
    }

    async fn promote_locked(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        deadline: Timestamp,
        wait: Option<&mut WaitOptions<'_>>,
    ) -> Result<RoleChanged, Error> {
        if stored.record.to_promote()?.is_some() {
            stored.record.promote(deadline, &self.user);
            self.unfinished(release, &stored.record).await?;
            self.save_record(release, &mut stored).await?;
        }
        if !self.reroute(release, &stored).await?.is_empty() {
            self.wait_for_istiod_push(&release.to_string(), &stored.record).await?;
        }
        self.write_weight(release, &stored).await?;
        let mut arrival = None;
        if let Some(waiting) = wait {
            arrival = Some(self.leave(release, &mut stored, waiting).await?);
        }
        Ok(RoleChanged { stored, arrival })
    }

    /// Takes a canary or a promotion back, at once or with a deadline until which sessions finish. Where the last
    /// rollback did not come to its end it is continued.
    ///
    /// Users move with the first object that is written; the rest waits for every proxy. An emergency waits for nobody:
    /// no Lease is taken, and whoever holds one is overtaken by the record. Fails as [`Cluster::promote`] does, and where
    /// a proxy does not run it in time: the routes stay then, and the next call continues.
    pub async fn roll_back(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        how: RollbackOptions<'_>,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<RoleChanged, Error> {
        if *how.back != RollbackTarget::Done {
            stored.record.roll_back(how.back, how.deadline, &self.user);
            self.plan_weight(release, &stored).await?;
            self.save_record(release, &mut stored).await?;
        }
        self.end(release, stored, waiting).await
    }

    /// Ends these versions: their sessions are on stable with their next request, then their routes and subsets go.
    /// Fails as [`Cluster::promote`] does, where a proxy does not run it in time, and where a `VirtualService` of somebody
    /// else still leads to one of them.
    pub async fn finish(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        versions: &[String],
        waiting: &mut WaitOptions<'_>,
    ) -> Result<RoleChanged, Error> {
        let task = Task { verb: "promote --finish", release };
        let end = async || {
            if !versions.is_empty() {
                stored.record.finish(versions, &self.user);
                self.plan_weight(release, &stored).await?;
                self.save_record(release, &mut stored).await?;
            }
            self.end(release, stored, waiting).await
        };
        self.with_leases(vec![task.place()], task, end).await
    }

    async fn end(
        &self,
        release: &ReleaseName,
        mut stored: StoredRecord,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<RoleChanged, Error> {
        self.write_weight(release, &stored).await?;
        self.reroute(release, &stored).await?;
        let arrival = Some(self.leave(release, &mut stored, waiting).await?);
        Ok(RoleChanged { stored, arrival })
    }

    /// Waits until every proxy runs the record, and takes away what only served versions that have left.
    async fn leave(
        &self,
        release: &ReleaseName,
        stored: &mut StoredRecord,
        waiting: &mut WaitOptions<'_>,
    ) -> Result<Arrival, Error> {
        let arrival = self.wait(&release.to_string(), &stored.record, waiting).await?;
        if stored.record.leaving.is_empty() {
            return Ok(arrival);
        }
        self.protect_routes(release, &stored.record).await?;
        let mut narrow = stored.record.clone();
        narrow.leaving.clear();
        let plan = self.reroutes(release, &narrow).await?;
        self.ensure_current(release, stored).await?;
        for change in plan.changes {
            self.carry_out(&change, WriteMode::Commit).await?;
            // What still names it has to be gone from the proxies before the next goes.
            self.wait_for_istiod_push(&release.to_string(), &narrow).await?;
        }
        stored.record = narrow;
        self.save_record(release, stored).await?;
        Ok(arrival)
    }

    /// Routes of others go before the subsets that they name, and only their owners can take them out.
    async fn protect_routes(&self, release: &ReleaseName, record: &Record) -> Result<(), Error> {
        if record.routes != Routes::External {
            return Ok(());
        }
        for version in &record.leaving {
            if let Some(name) = self.names_subset(release, record, version).await? {
                let message = format!("version `{version}` is gone, and VirtualService `{name}` leads to it");
                let hint = format!(
                    "take the subset of `{version}` out of its routes; the next call takes the subset away"
                );
                return Err(Error::Protected { message, hint });
            }
        }
        Ok(())
    }

    /// Leads default routes to where the record says. Fails where somebody else has written the record since.
    async fn reroute(&self, release: &ReleaseName, stored: &StoredRecord) -> Result<Plan, Error> {
        let plan = async || {
            let plan = self.reroutes(release, &stored.record).await?;
            self.ensure_current(release, stored).await?;
            Ok(plan)
        };
        self.apply_with_retry(plan).await
    }

    async fn reroutes(&self, release: &ReleaseName, record: &Record) -> Result<Plan, Error> {
        let leads = |(stage, _): &&(Stage, Reference)| *stage == Stage::Subsets || stage.is_way();
        let observed =
            self.get_all(record.objects.iter().filter(leads).map(|(_, reference)| reference)).await?;
        rerouted(release, record, &observed)
    }
}

fn nobody_holds(release: &ReleaseName) -> Error {
    let (release, object) = (release.to_string(), "gateways".into());
    plan::Error::NotCarried { release, object, found: "no proxy that holds it" }.into()
}

fn rerouted(
    release: &ReleaseName,
    record: &Record,
    observed: &BTreeMap<Reference, Value>,
) -> Result<Plan, Error> {
    Ok(reroute(&release.to_string(), record, observed)?)
}
