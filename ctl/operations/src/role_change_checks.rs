//! The checks of a promotion, a rollback and the end of a drain. Each results in a value that the operation needs, so that
//! no caller can leave them out.

use crate::checks::check_ready;
use crate::{Cluster, EffectiveSettings, Error, StoredRecord};
use assignment::Weight;
use assignment::contract::Role;
use canary_release::preflight::{Alternative, PreflightCheck, check_step};
use canary_release::record::{Record, RollbackTarget, ScaledDown, drains_for, ends_after};
use canary_release::spec::{ReleaseName, Seconds};
use jiff::Timestamp;

/// How a canary is promoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromoteOptions<'a> {
    /// How long the old version drains; without it as long as its pins live.
    pub drain: Option<Seconds>,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
}

/// A promotion whose checks have passed; [`Cluster::promote`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedPromotion<'a> {
    pub(super) release: ReleaseName,
    pub(super) stored: StoredRecord,
    canary: Option<String>,
    settings: EffectiveSettings,
    drain: Option<Seconds>,
    skipped: &'a [PreflightCheck],
    pub(super) train_round: Option<String>,
}

/// How a release is rolled back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollbackOptions<'a> {
    /// Whether sessions end at once, those of a promoted version too.
    pub now: bool,
    /// How long the version that is rolled back drains.
    pub drain: Option<Seconds>,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
}

/// A rollback whose checks have passed; [`Cluster::roll_back`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedRollback {
    pub(super) release: ReleaseName,
    pub(super) stored: StoredRecord,
    pub(super) target: RollbackTarget,
    pub(super) deadline: Option<Timestamp>,
    settings: EffectiveSettings,
    scaled_down: Option<ScaledDown>,
    pub(super) train_round: Option<String>,
}

/// The end of a drain whose checks have passed; [`Cluster::finish`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedFinish {
    pub(super) release: ReleaseName,
    pub(super) stored: StoredRecord,
    pub(super) versions: Vec<String>,
    early: Vec<String>,
}

impl CheckedPromotion<'_> {
    /// The same as a part of a promotion of a train.
    pub(super) fn in_train(self, train_round: Option<String>) -> Self {
        Self { train_round, ..self }
    }

    /// The version that becomes stable; `None` if it was promoted already and the rest of it is written.
    pub fn canary(&self) -> Option<&str> {
        self.canary.as_deref()
    }

    /// How users stick to versions.
    pub const fn settings(&self) -> EffectiveSettings {
        self.settings
    }

    /// How long the old version drains; `None` if it does not.
    pub const fn drain(&self) -> Option<Seconds> {
        self.drain
    }

    /// The record before.
    pub const fn record(&self) -> &Record {
        &self.stored.record
    }

    /// The record as it would be.
    pub fn preview(&self) -> Record {
        let mut record = self.stored.record.clone();
        record.promote(self.deadline(), "");
        record
    }

    pub(super) fn deadline(&self) -> Timestamp {
        ends_after(self.drain)
    }

    /// A promotion is a step to 100 %.
    pub(super) fn check_step(&self) -> Result<(), Error> {
        let record = &self.stored.record;
        let from = record.state.weight_at(now());
        Ok(check_step(record.max_step, from, Weight::FULL, self.skipped)?)
    }
}

impl CheckedRollback {
    /// The same as a part of the rollback of a train.
    pub(super) fn in_train(self, train_round: Option<String>) -> Self {
        Self { train_round, ..self }
    }

    /// What is rolled back.
    pub const fn target(&self) -> &RollbackTarget {
        &self.target
    }

    /// Until when sessions finish on the version that is rolled back; without it they end at once.
    pub const fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }

    /// The version that gets all users, where it has too few pods for them. It refuses nothing.
    pub const fn scaled_down(&self) -> Option<&ScaledDown> {
        self.scaled_down.as_ref()
    }

    /// How users stick to versions.
    pub const fn settings(&self) -> EffectiveSettings {
        self.settings
    }

    /// The record before.
    pub const fn record(&self) -> &Record {
        &self.stored.record
    }

    /// The record as it would be in the end.
    pub fn preview(&self) -> Record {
        let mut record = self.stored.record.clone();
        record.roll_back(&self.target, self.deadline, "");
        record.leaving.clear();
        record
    }
}

impl CheckedFinish {
    /// The versions whose drain ends.
    pub fn versions(&self) -> &[String] {
        &self.versions
    }

    /// A message for each version whose drain has not reached its deadline.
    pub fn early(&self) -> &[String] {
        &self.early
    }

    /// The record before, with the version by which it is written.
    pub const fn stored(&self) -> &StoredRecord {
        &self.stored
    }

    /// The record as it would be in the end.
    pub fn preview(&self) -> Record {
        let mut record = self.stored.record.clone();
        record.finish(&self.versions, "");
        record.leaving.clear();
        record
    }
}

impl Cluster {
    /// Checks a promotion: the release is not paused by another operator, the canary has ready pods and a route, and the releases that follow its
    /// users in a train have no canary.
    ///
    /// # Errors
    ///
    /// If a check fails, there is no canary, or no proxy has the release.
    pub async fn check_promotion<'a>(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        options: PromoteOptions<'a>,
    ) -> Result<CheckedPromotion<'a>, Error> {
        let checked = self.check_own_promotion(release, stored, options).await?;
        if checked.canary.is_some() {
            self.check_promoted_inside(release, checked.record(), options.skipped).await?;
        }
        Ok(checked)
    }

    /// The same without a look at the train.
    pub(crate) async fn check_own_promotion<'a>(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        options: PromoteOptions<'a>,
    ) -> Result<CheckedPromotion<'a>, Error> {
        let PromoteOptions { drain, skipped } = options;
        self.check_pause(&stored.record, skipped)?;
        let settings = self.effective_settings(release, &stored).await?;
        let drain = drain.or_else(|| drains_for(settings.stickiness, settings.max_age));
        let canary = stored.record.to_promote()?.map(str::to_owned);
        if canary.is_some() {
            self.check_filter(&stored.record, skipped).await?;
            self.check_canary(release, &stored.record, skipped).await?;
        }
        let (release, train_round) = (release.clone(), None);
        Ok(CheckedPromotion { release, stored, canary, settings, drain, skipped, train_round })
    }

    /// Checks a rollback: the version that gets all users has ready pods. A pause does not stop a rollback.
    ///
    /// # Errors
    ///
    /// If the check fails, there is nothing to roll back, or no proxy has the release.
    pub async fn check_rollback(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        options: RollbackOptions<'_>,
    ) -> Result<CheckedRollback, Error> {
        let settings = self.effective_settings(release, &stored).await?;
        let target = rollback_target(stored.record.to_roll_back()?, options);
        let deadline = rollback_deadline(&target, options, settings);
        let mut after = stored.record.clone();
        after.roll_back(&target, None, "");
        let stable = after.state.version_of(Role::Stable).unwrap_or_default();
        let mut scaled_down = None;
        if !options.skipped.contains(&PreflightCheck::NoReadyPods) {
            let service = &stored.record.service;
            let pods = self.client.service_pods(release.namespace.as_str(), service).await?;
            let of = |version: &str| pods.of_version(service, version);
            check_ready(of(stable), stable, &service.name, options.skipped)?;
            scaled_down = stored.record.scaled_down_for(&target, |version| of(version).ready, now());
        }
        let (release, train_round) = (release.clone(), None);
        Ok(CheckedRollback { release, stored, target, deadline, settings, scaled_down, train_round })
    }

    /// Checks the end of all drains: their deadlines have passed.
    ///
    /// # Errors
    ///
    /// If a version drains until a later moment, unless the check is skipped.
    pub fn check_finish(
        &self,
        release: &ReleaseName,
        stored: StoredRecord,
        skipped: &[PreflightCheck],
    ) -> Result<CheckedFinish, Error> {
        let (versions, early) = (stored.record.draining_versions(), early(&stored.record, Timestamp::now()));
        for (message, deadline) in &early {
            let alternative = Alternative::WaitUntil { time: *deadline };
            PreflightCheck::MovesUsers.refuse(skipped, message, alternative)?;
        }
        let early = early.into_iter().map(|(message, _)| message).collect();
        Ok(CheckedFinish { release: release.clone(), stored, versions, early })
    }
}

/// A version that drains after a rollback ends only if that is requested: a repeated call must not do more than the
/// first.
fn rollback_target(found: RollbackTarget, options: RollbackOptions<'_>) -> RollbackTarget {
    match found {
        RollbackTarget::Draining(_) if !options.now && options.drain.is_none() => RollbackTarget::Done,
        target => target,
    }
}

/// A canary is rolled back at once, because it may be broken; the sessions of a promoted version finish.
fn rollback_deadline(
    target: &RollbackTarget,
    options: RollbackOptions<'_>,
    settings: EffectiveSettings,
) -> Option<Timestamp> {
    let drain = match (options.now, target) {
        (true, _) => None,
        (false, RollbackTarget::Promotion(_)) => {
            options.drain.or_else(|| drains_for(settings.stickiness, settings.max_age))
        }
        (false, _) => options.drain,
    };
    drain.map(|drain| ends_after(Some(drain)))
}

/// A message for each version whose drain has not reached its deadline, and that.
fn early(record: &Record, now: Timestamp) -> Vec<(String, Timestamp)> {
    let versions = record.draining_versions().into_iter().filter(|version| !record.is_overdue(version, now));
    let message = |version: String| {
        let deadline = record.draining.get(&version).copied().unwrap_or(now);
        (format!("`{version}` drains until {deadline:.0}: its sessions would lose their state"), deadline)
    };
    versions.map(message).collect()
}

/// Seconds since 1970-01-01 UTC.
pub(super) fn now() -> u64 {
    u64::try_from(Timestamp::now().as_second()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assignment::contract::Stickiness;

    const SETTINGS: EffectiveSettings =
        EffectiveSettings { stickiness: Stickiness::Session, max_age: Seconds::DAY, is_inside: false };

    fn options(now: bool, drain: Option<Seconds>) -> RollbackOptions<'static> {
        RollbackOptions { now, drain, skipped: &[] }
    }

    #[test]
    fn a_repeated_rollback_ends_a_drain_only_if_that_is_asked_for() {
        let draining = RollbackTarget::Draining("v2".to_owned());
        assert_eq!(rollback_target(draining.clone(), options(false, None)), RollbackTarget::Done);
        assert_eq!(rollback_target(draining.clone(), options(true, None)), draining);
        assert_eq!(rollback_target(draining.clone(), options(false, Some(Seconds::DAY))), draining);
    }

    #[test]
    fn a_canary_ends_at_once_and_the_sessions_of_a_promoted_version_finish() {
        let deadline = |target: RollbackTarget, options| rollback_deadline(&target, options, SETTINGS);
        let (canary, promotion) =
            (RollbackTarget::Canary("v2".to_owned()), RollbackTarget::Promotion("v2".to_owned()));
        assert_eq!(deadline(canary.clone(), options(false, None)), None);
        assert!(deadline(canary, options(false, Some(Seconds::DAY))).is_some(), "a drain that is asked for");
        assert!(deadline(promotion.clone(), options(false, None)).is_some(), "as long as pins live");
        assert_eq!(deadline(promotion, options(true, None)), None);
    }
}
