//! The checks of a promotion.

use crate::operation::checks::now;
use crate::{Cluster, EffectiveSettings, Error, StoredRecord};
use assignment::Weight;
use canary_release::preflight::{PreflightCheck, check_step};
use canary_release::record::{Author, Record, drains_for, ends_after};
use canary_release::spec::{ReleaseName, Seconds};
use canary_release::state::Undersized;
use jiff::Timestamp;

/// The options of a promotion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromoteOptions<'a> {
    /// The drain time of the old version; without it as long as its pins live.
    pub drain: Option<Seconds>,
    /// The checks that are skipped.
    pub skipped: &'a [PreflightCheck],
}

/// A promotion whose checks have passed; [`Cluster::promote`] carries it out.
#[derive(Clone, Debug)]
pub struct CheckedPromotion<'a> {
    pub(crate) release: ReleaseName,
    pub(crate) stored: StoredRecord,
    canary: Option<String>,
    settings: EffectiveSettings,
    drain: Option<Seconds>,
    skipped: &'a [PreflightCheck],
    pub(crate) train_round: Option<String>,
    undersized: Option<Undersized>,
}

impl CheckedPromotion<'_> {
    /// The same as a part of a promotion of a train.
    pub(crate) fn in_train(self, train_round: Option<String>) -> Self {
        Self { train_round, ..self }
    }

    /// The version that becomes stable; `None` if it was promoted already and the rest of it is written.
    pub fn canary(&self) -> Option<&str> {
        self.canary.as_deref()
    }

    /// The stickiness of users.
    pub const fn settings(&self) -> EffectiveSettings {
        self.settings
    }

    /// The drain time of the old version; `None` if it does not drain.
    pub const fn drain(&self) -> Option<Seconds> {
        self.drain
    }

    /// The canary, where it has too few pods for all users. It refuses nothing.
    pub const fn undersized(&self) -> Option<&Undersized> {
        self.undersized.as_ref()
    }

    /// The record before.
    pub const fn record(&self) -> &Record {
        &self.stored.record
    }

    /// The record as it would be.
    pub fn preview(&self) -> Record {
        let mut record = self.stored.record.clone();
        record.promote(self.deadline(), Author::of_a_preview(Timestamp::now()));
        record
    }

    pub(crate) fn deadline(&self) -> Timestamp {
        ends_after(Timestamp::now(), self.drain)
    }

    /// A promotion is a step to 100 %.
    pub(crate) fn check_step(&self) -> Result<(), Error> {
        let record = &self.stored.record;
        let from = record.state.weight_at(now());
        Ok(check_step(record.max_step, from, Weight::FULL, self.skipped)?)
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
            self.check_promoted_inside(release, checked.record(), &[], options.skipped).await?;
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
        stored.ensure_trusted(release)?;
        self.check_pause(&stored.record, skipped)?;
        let settings = self.effective_settings(release, &stored).await?;
        let drain = drain.or_else(|| drains_for(settings.stickiness, settings.max_age));
        let canary = stored.record.to_promote()?.map(str::to_owned);
        let mut undersized = None;
        if canary.is_some() {
            self.check_filter(&stored.record, skipped).await?;
            let ready = self.check_canary(release, &stored.record, skipped).await?;
            undersized = ready.and_then(|ready| ready.undersized(&stored.record));
        }
        let (release, train_round) = (release.clone(), None);
        Ok(CheckedPromotion { release, stored, canary, settings, drain, skipped, train_round, undersized })
    }
}
