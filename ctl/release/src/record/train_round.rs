//! Which role changes belong to one promotion of a train.
//!
//! A promotion stays in the record of a release until it has another canary, so a record alone does not say whether it was promoted with the train a
//! minute ago, or by itself last week. Each promotion of a train has a name: the version by which it ends, that of the last release with a canary. It is the
//! same for every call that continues it.

use super::{Record, RoleChange, RoleChangeKind};
use crate::spec::ReleaseName;
use assignment::contract::Role;
use std::collections::BTreeSet;

/// The promotion that a release has to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromotionState {
    /// This canary.
    Canary(String),
    /// Nothing more: this version was promoted.
    Promoted(String),
    /// Nothing more: its canary was rolled back.
    RolledBack(RoleChange),
    /// It has had no canary since its roles were accepted.
    NoCanary,
}

/// A promotion of a train, and its rollback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainRound {
    name: String,
    names: BTreeSet<String>,
}

impl TrainRound {
    /// The present round of a train, by the records of its releases in the order of promotion. `None` if no release has a canary, and none has changed
    /// roles with the train.
    pub fn of<'r>(records: impl IntoIterator<Item = (&'r ReleaseName, &'r Record)>) -> Option<Self> {
        let records: Vec<_> = records.into_iter().collect();
        let ends = records.iter().rev().find_map(|(name, record)| ending(name, record));
        let changes = || records.iter().filter_map(|(_, record)| record.role_change.as_ref());
        // A rollback that was killed has begun with the releases that were promoted last: they have no canary any more.
        let rolled_back = changes().filter(|change| change.kind == RoleChangeKind::RolledBack);
        let mut names: BTreeSet<String> =
            rolled_back.filter_map(|change| change.train_round.clone()).collect();
        let latest =
            || changes().filter(|change| change.train_round.is_some()).max_by_key(|change| change.at);
        let name = ends.or_else(|| latest()?.train_round.clone())?;
        names.insert(name.clone());
        Some(Self { name, names })
    }

    /// Its name, for the role changes that are made in it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a release takes part: it has a canary, or has changed roles in this round.
    pub fn includes(&self, record: &Record) -> bool {
        let round = record.role_change.as_ref().and_then(|change| change.train_round.as_ref());
        record.state.version_of(Role::Canary).is_some()
            || round.is_some_and(|round| self.names.contains(round))
    }
}

/// `shop/web v2#3`: the version by whose promotion a round ends.
fn ending(name: &ReleaseName, record: &Record) -> Option<String> {
    let canary = record.state.versions.iter().find(|version| version.role == Role::Canary)?;
    Some(format!("{name} {}#{}", canary.name, canary.epoch))
}

impl Record {
    /// The promotion that it has to make.
    pub fn promotion_state(&self) -> PromotionState {
        if let Some(canary) = self.state.version_of(Role::Canary) {
            return PromotionState::Canary(canary.to_owned());
        }
        match &self.role_change {
            Some(change) if change.kind == RoleChangeKind::Promoted => {
                PromotionState::Promoted(change.to.clone())
            }
            Some(change) => PromotionState::RolledBack(change.clone()),
            None => PromotionState::NoCanary,
        }
    }

    /// Notes that its last role change is one of a train.
    pub fn join_train_round(&mut self, round: &str) {
        if let Some(change) = &mut self.role_change {
            change.train_round = Some(round.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;
    use crate::record::{Author, RollbackTarget};
    use crate::state::ReleaseState;
    use jiff::Timestamp;
    use std::path::Path;

    fn record(name: &str, versions: &str) -> (ReleaseName, Record) {
        let text = format!(
            "apiVersion: canary-ctl.io/v1alpha1\nkind: Release\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  versions: {{{versions}}}\n  \
             hosts: [{name}.example.com]\n  gateways: [{{name: ingress/gateway, selector: {{istio: gateway}}}}]\n  stickiness: user\n  identifyBy: \
             [{{cookie: ID}}]\n"
        );
        let release = file::parse(Path::new("canary.yaml"), &text).unwrap().release;
        let record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        (release.name, record)
    }

    /// The releases in the order of promotion, both with a canary.
    fn train() -> [(ReleaseName, Record); 2] {
        ["api", "web"].map(|name| record(name, "stable: v1, canary: v2"))
    }

    fn round(train: &[(ReleaseName, Record)]) -> Option<TrainRound> {
        TrainRound::of(train.iter().map(|(name, record)| (name, record)))
    }

    fn promote(record: &mut Record, round: Option<&TrainRound>) {
        record.promote(Timestamp::MAX, Author::new("ada", Timestamp::now()));
        if let Some(round) = round {
            record.join_train_round(round.name());
        }
    }

    fn roll_back(record: &mut Record, round: &TrainRound) {
        let target = record.to_roll_back().unwrap();
        record.roll_back(&target, None, Author::new("ada", Timestamp::now()));
        record.join_train_round(round.name());
    }

    #[test]
    fn a_promotion_has_the_same_name_at_each_call_that_continues_it() {
        let mut train = train();
        let begun = round(&train).unwrap();
        assert_eq!(begun.name(), "shop/web v2#1");
        for index in [0, 1] {
            promote(&mut train[index].1, Some(&begun));
            let now = round(&train).unwrap();
            assert_eq!(now.name(), begun.name(), "{index}");
            assert!(train.iter().all(|(_, record)| now.includes(record)), "{index}");
        }
    }

    #[test]
    fn a_release_that_was_promoted_by_itself_or_with_another_canary_takes_no_part() {
        let mut train = train();
        promote(&mut train[0].1, None);
        assert!(!round(&train).unwrap().includes(&train[0].1), "by itself");

        let mut train = self::train();
        let begun = round(&train).unwrap();
        promote(&mut train[0].1, Some(&begun));
        promote(&mut train[1].1, Some(&begun));
        // The next canary of the front end alone.
        train[1] = record("web", "stable: v2, canary: v3");
        let now = round(&train).unwrap();
        assert!(!now.includes(&train[0].1) && now.includes(&train[1].1), "{now:?}");
    }

    #[test]
    fn a_rollback_that_was_killed_is_continued_and_reverts_no_more_at_its_end() {
        for promoted in 0..=2 {
            let mut train = train();
            let begun = round(&train).unwrap();
            for (_, record) in &mut train[..promoted] {
                promote(record, Some(&begun));
            }
            for index in [1, 0] {
                let now = round(&train).unwrap();
                assert!(train.iter().all(|(_, record)| now.includes(record)), "{promoted} promoted: {now:?}");
                roll_back(&mut train[index].1, &now);
            }
            let now = round(&train).unwrap();
            for (_, record) in &train {
                assert!(now.includes(record), "what is left to write is written");
                assert_eq!(record.to_roll_back().unwrap(), RollbackTarget::Done, "{promoted} promoted");
            }
        }
    }

    #[test]
    fn a_version_that_is_a_canary_again_is_promoted_in_another_round() {
        let mut train = train();
        for version in &mut train[1].1.state.versions {
            version.epoch += 1;
        }
        assert_eq!(round(&train).unwrap().name(), "shop/web v2#2");
    }

    #[test]
    fn of_two_rounds_that_are_over_the_later_one_counts() {
        let mut train = train();
        for (index, (at, name)) in
            ["2026-11-20T16:00:00Z", "2026-11-21T16:00:00Z"].iter().zip(["first", "last"]).enumerate()
        {
            let record = &mut train[index].1;
            promote(record, None);
            record.join_train_round(name);
            record.role_change.as_mut().unwrap().at = at.parse().unwrap();
        }
        assert_eq!(round(&train).unwrap().name(), "last");
    }

    #[test]
    fn a_train_without_canary_and_role_change_has_no_round() {
        let train = ["api", "web"].map(|name| record(name, "stable: v1"));
        assert_eq!(round(&train), None);
        assert_eq!(train[0].1.promotion_state(), PromotionState::NoCanary);
    }
}
