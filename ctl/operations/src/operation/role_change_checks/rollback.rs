//! The checks of a rollback, and how much of it is left to do.

use crate::operation::checks::{check_ready, now};
use crate::{Cluster, EffectiveSettings, Error, StoredRecord};
use assignment::contract::Role;
use canary_release::preflight::PreflightCheck;
use canary_release::record::{Author, Record, RollbackTarget, drains_for, ends_after};
use canary_release::spec::{ReleaseName, Seconds};
use canary_release::state::ScaledDown;
use jiff::Timestamp;

/// The options of a rollback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollbackOptions<'a> {
    /// Whether sessions end at once, those of a promoted version too.
    pub now: bool,
    /// The drain time of the version that is rolled back.
    pub drain: Option<Seconds>,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
}

/// A rollback whose checks have passed; [`Cluster::roll_back`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedRollback {
    pub(crate) release: ReleaseName,
    pub(crate) stored: StoredRecord,
    pub(crate) target: RollbackTarget,
    pub(crate) deadline: Option<Timestamp>,
    settings: EffectiveSettings,
    scaled_down: Option<ScaledDown>,
    pub(crate) train_round: Option<String>,
    now: bool,
    drain: Option<Seconds>,
    skipped: Vec<PreflightCheck>,
}

impl CheckedRollback {
    /// The same as a part of the rollback of a train.
    pub(crate) fn in_train(self, train_round: Option<String>) -> Self {
        Self { train_round, ..self }
    }

    /// The target of the rollback.
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

    /// The stickiness of users.
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
        record.roll_back(&self.target, self.deadline, Author::of_a_preview(Timestamp::now()));
        record.leaving.clear();
        record
    }
}

impl Cluster {
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
        let mut stored = stored;
        stored.begin_emergency();
        let settings = match self.effective_settings(release, &stored).await {
            // No proxy decides, and everybody gets stable.
            Err(Error::Plan(error)) if error.is_not_deployed() => EffectiveSettings::default(),
            settings => settings?,
        };
        let target = rollback_target(&stored.record, options)?;
        let deadline = rollback_deadline(&target, options, settings);
        let mut after = stored.record.clone();
        after.roll_back(&target, None, Author::of_a_preview(Timestamp::now()));
        let stable = after.state.version_of(Role::Stable).unwrap_or_default();
        let mut scaled_down = None;
        if !options.skipped.contains(&PreflightCheck::NoReadyPods) {
            let service = &stored.record.service;
            let pods = self.client.service_pods(release.namespace.as_str(), service).await?;
            let of = |version: &str| pods.of_version(service, version);
            // Without the Service no request reaches either version.
            if pods.ports.is_some() {
                check_ready(&pods, service, stable, options.skipped)?;
            }
            scaled_down = stored.record.scaled_down_for(&target, |version| of(version).ready, now());
        }
        let RollbackOptions { now, drain, skipped } = options;
        Ok(CheckedRollback {
            release: release.clone(),
            stored,
            target,
            deadline,
            settings,
            scaled_down,
            train_round: None,
            now,
            drain,
            skipped: skipped.to_vec(),
        })
    }

    /// Checks the rollback again, on the record that another client has written. Where that has rolled back too, less is left to do.
    pub(crate) async fn check_rollback_again(
        &self,
        checked: CheckedRollback,
    ) -> Result<CheckedRollback, Error> {
        let CheckedRollback { release, stored, now, drain, skipped, train_round, .. } = checked;
        let stored = self.read_again(&release, &stored.record).await?;
        let options = RollbackOptions { now, drain, skipped: &skipped };
        Ok(self.check_rollback(&release, stored, options).await?.in_train(train_round))
    }
}

/// A version that drains ends only if that is requested: a repeated call must not do more than the first.
fn rollback_target(record: &Record, options: RollbackOptions<'_>) -> Result<RollbackTarget, Error> {
    match record.to_roll_back()? {
        RollbackTarget::Draining(_) if !options.now && options.drain.is_none() => {
            let is_done = record.is_rolled_back();
            if is_done { Ok(RollbackTarget::Done) } else { Err(record.no_canary().into()) }
        }
        target => Ok(target),
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
    drain.map(|drain| ends_after(Timestamp::now(), Some(drain)))
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
