//! What a spec asks for, in the order of the operations: apply, start a rollout, drive it, finish a drain.

use super::{Carried, Followed, Host, Obstacle, RESYNC, Reconciler, Subject, TIMEOUT};
use crate::grants::{self, Grant};
use crate::roles::as_roles_are;
use crate::{MissingGrant, release_of, secrets};
use assignment::contract::Role;
use canary_operations::{ApplyOptions, Error, RolloutReport, StoredRecord, WaitOptions};
use canary_release::alert::RolloutResult;
use canary_release::plan::Plan;
use canary_release::record::Record;
use canary_release::rollout::{DriverKind, Rollout, RolloutAction};
use canary_release::spec::{DEFAULT_PLAN, Release, ReleaseName};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// The delay after a write, which needs no new observation.
const AT_ONCE: Duration = Duration::from_millis(10);

impl<'c, H: Host> Reconciler<'c, H> {
    pub(super) async fn carry_out(
        &self,
        subject: &Subject<'_>,
        grants: &[Grant],
        followed: &mut Followed<'c>,
    ) -> Result<Carried, Obstacle> {
        let Subject { object, name, generation, now } = *subject;
        let mut release = release_of(object)?;
        self.host.embed_module(&mut release);
        let named = release.versions.clone();
        check_grants(&release, grants)?;
        let found = self.cluster.find_record(name).await?;
        if let Some(stored) = found.as_ref().filter(|stored| stored.record.paused.is_some()) {
            let record = stored.record.clone();
            return Ok(Carried { record, named, report: None, again: self.interval });
        }
        if self.changed.borrow_mut().remove(name) {
            followed.applied = None;
        }
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
        let stored = self.apply(&release, found, (uid, generation, followed), now).await?;
        let stored = self.start_rollout(&release, stored, has_rollout(object)).await?;
        if !stored.record.rollout.as_deref().is_some_and(Rollout::is_active) {
            followed.driver = None;
            let record = self.finish(name, stored, now).await?;
            let again = next_deadline(&record, now);
            return Ok(Carried { record, named, report: None, again });
        }
        let report = self.drive(&release, (generation, followed), now).await?;
        let again = if report.decision.action == RolloutAction::Wait { self.interval } else { AT_ONCE };
        Ok(Carried { record: report.record.clone(), named, report: Some(report), again })
    }

    /// Applies an object whose spec, or whose roles, have changed since, or that was not applied for long.
    async fn apply(
        &self,
        release: &Release,
        found: Option<StoredRecord>,
        (uid, generation, followed): (&str, i64, &mut Followed<'c>),
        now: Timestamp,
    ) -> Result<StoredRecord, Obstacle> {
        let turned = |stored: &StoredRecord| stored.record.role_change.as_ref().map(|change| change.at);
        if let (Some(stored), Some((applied, turn, at))) = (&found, &followed.applied)
            && (applied, *turn) == (&(uid.to_owned(), generation), turned(stored))
            && now.duration_since(*at) < RESYNC
        {
            return Ok(stored.clone());
        }
        let release = match &found {
            Some(stored) => as_roles_are(release.clone(), &stored.record),
            None => release.clone(),
        };
        self.check_namespaces(&release, false).await?;
        let waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
        let how = ApplyOptions { waiting, wait: false, skipped: &[], allow_rolled_back: false };
        Box::pin(self.cluster.apply(&release, how)).await?;
        let stored = self.cluster.get_record(&release.name).await?;
        followed.applied = Some(((uid.to_owned(), generation), turned(&stored), now));
        let owned = stored.record.objects.iter().map(|(_, object)| object.clone()).collect();
        self.owned.borrow_mut().insert(release.name.clone(), owned);
        Ok(stored)
    }

    /// Refuses a plan that writes to a namespace without a grant: an edit of a route of others, for example.
    pub(super) async fn check_namespaces(
        &self,
        release: &Release,
        allow_rolled_back: bool,
    ) -> Result<Plan, Obstacle> {
        let plan = self.cluster.plan_allowing(release, allow_rolled_back).await?;
        let allowed = grants::namespaces(release);
        let foreign = plan.changes.iter().filter(|change| !allowed.contains(&change.object.namespace));
        let missing: Vec<MissingGrant> = foreign
            .map(|change| MissingGrant {
                namespace: change.object.namespace.clone(),
                from: release.name.namespace.to_string(),
                what: change.object.to_string(),
            })
            .collect();
        if missing.is_empty() { Ok(plan) } else { Err(Obstacle::NotGranted(missing)) }
    }

    /// Starts a rollout of a canary that had none, where the spec has one.
    async fn start_rollout(
        &self,
        release: &Release,
        stored: StoredRecord,
        has_rollout: bool,
    ) -> Result<StoredRecord, Error> {
        if !starts_rollout(&stored.record, has_rollout) {
            return Ok(stored);
        }
        self.cluster.start_rollout(&release.name, stored, (&release.rollout, DEFAULT_PLAN), &[]).await
    }

    async fn drive(
        &self,
        release: &Release,
        (generation, followed): (i64, &mut Followed<'c>),
        now: Timestamp,
    ) -> Result<RolloutReport, Obstacle> {
        self.check_secrets(release).await?;
        if followed.driver.as_ref().is_none_or(|(of, _)| *of != generation) {
            let driver = self.host.driver(self.cluster, release);
            let driver = driver.with_identity(DriverKind::Controller, self.identity.clone());
            followed.driver = Some((generation, driver));
        }
        let Some((_, driver)) = followed.driver.as_mut() else {
            return Err(Error::NotApplied.into());
        };
        Ok(Box::pin(driver.reconcile(now)).await?)
    }

    /// Refuses Secrets that their owner has not given to releases: who may write objects need not be allowed to read Secrets.
    pub(super) async fn check_secrets(&self, release: &Release) -> Result<(), Obstacle> {
        match secrets::not_given(&self.client, release).await.map_err(Obstacle::Unread)? {
            Some(secret) => Err(Obstacle::Secret(secret)),
            None => Ok(()),
        }
    }

    /// Ends drains whose deadline has passed.
    async fn finish(
        &self,
        name: &ReleaseName,
        stored: StoredRecord,
        now: Timestamp,
    ) -> Result<Record, Error> {
        let record = &stored.record;
        let draining = record.draining_versions();
        let is_over = !draining.is_empty() && draining.iter().all(|version| record.is_overdue(version, now));
        if !is_over && record.leaving.is_empty() {
            return Ok(stored.record);
        }
        let end = self.cluster.check_finish(name, stored, &[])?;
        let mut waiting = WaitOptions { timeout: TIMEOUT, progress: &mut |_, _| {} };
        Ok(Box::pin(self.cluster.finish(end, &mut waiting)).await?.stored.record)
    }
}

/// Refuses what a release asks of other namespaces and these have not granted.
pub(super) fn check_grants(release: &Release, grants: &[Grant]) -> Result<(), Obstacle> {
    let missing = grants::missing(release, grants);
    if missing.is_empty() { Ok(()) } else { Err(Obstacle::NotGranted(missing)) }
}

/// Whether the canary has had no rollout.
pub(super) fn starts_rollout(record: &Record, has_rollout: bool) -> bool {
    let canary = record.state.version_of(Role::Canary);
    // After a promotion or a rollback a canary of the same name is another one.
    let is_over = |rollout: &Rollout| {
        let result = rollout.ended.as_ref().map(|end| end.result);
        matches!(result, Some(RolloutResult::Promoted | RolloutResult::RolledBack))
    };
    let had = record.rollout.as_deref().filter(|rollout| !is_over(rollout));
    let had = had.map(|rollout| rollout.canary.as_str());
    let is_settled = record.initial_weight.is_none();
    has_rollout && is_settled && canary.is_some() && had != canary
}

/// Whether the spec asks for rollouts: the file's reader gives a default plan to all.
pub(super) fn has_rollout(object: &Value) -> bool {
    object.get("spec").and_then(|spec| spec.get("rollout")).is_some_and(|rollout| !rollout.is_null())
}

/// When a drain ends, or the next resync is due.
fn next_deadline(record: &Record, now: Timestamp) -> Duration {
    let deadlines = record.draining.values().map(|deadline| deadline.duration_since(now));
    let next = deadlines.chain([RESYNC]).min().unwrap_or(RESYNC);
    Duration::try_from(next).unwrap_or_default().max(Duration::from_secs(1))
}
