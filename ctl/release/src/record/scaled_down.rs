//! Whether a version has fewer ready pods than all users need who come back to it.
//!
//! ```text
//! expected   at least half of the ready pods with which a version had all users
//! found      its ready pods now
//! ```
//!
//! All users of a release were on stable when the canary got its first ones: those ready pods are in the record. Half of them is a load of
//! twice as much a pod at most, and an autoscaler that follows the users is not below it before the canary has more than half of them.

use super::{Record, RollbackTarget};
use crate::format::counted;
use assignment::Weight;
use assignment::contract::Role;
use std::fmt;

/// A version that has been scaled down below what all users need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledDown {
    /// The version to which users come back.
    pub version: String,
    /// Its ready pods.
    pub ready: usize,
    /// The ready pods with which all users were served.
    pub before: usize,
    /// The users who come back.
    pub returning: Weight,
}

impl ScaledDown {
    fn of(version: &str, ready: usize, before: usize, returning: Weight) -> Option<Self> {
        let found = Self { version: version.to_owned(), ready, before, returning };
        (returning > Weight::ZERO && ready < found.expected()).then_some(found)
    }

    /// The ready pods that it should have.
    pub const fn expected(&self) -> usize {
        self.before.div_ceil(2)
    }
}

impl fmt::Display for ScaledDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, ready, before, returning } = self;
        let (ready, expected) = (counted(*ready, "ready pod", "ready pods"), self.expected());
        write!(
            f,
            "expected at least {expected} ready pods of version `{version}`, to which {returning} of the users would come back, found {ready}: all \
             users were served by {before}"
        )
    }
}

impl Record {
    /// Notes stable's ready pods when the canary gets its first users, and where they are not noted yet. `before` is the weight before. Whether
    /// that changed anything.
    pub fn note_stable_pods(&mut self, before: Weight, ready: usize) -> bool {
        let is_due = before == Weight::ZERO || self.stable_pods.is_none();
        if !is_due || ready == 0 || self.state.weight == Weight::ZERO {
            return false;
        }
        self.stable_pods.replace(ready) != Some(ready)
    }

    /// Whether stable has too few of its pods for the users who would come back from the canary. `now` in seconds since 1970.
    pub fn scaled_down(&self, ready: usize, now: u64) -> Option<ScaledDown> {
        self.state.version_of(Role::Canary)?;
        let stable = self.state.version_of(Role::Stable)?;
        ScaledDown::of(stable, ready, self.stable_pods?, self.state.weight_at(now))
    }

    /// The same of the version that a rollback makes stable. `ready` says how many pods of a version are ready; of a promotion all users come
    /// back, and the version that is taken back serves them now.
    pub fn scaled_down_for(
        &self,
        target: &RollbackTarget,
        ready: impl Fn(&str) -> usize,
        now: u64,
    ) -> Option<ScaledDown> {
        match target {
            RollbackTarget::Canary(_) => {
                let stable = self.state.version_of(Role::Stable)?;
                self.scaled_down(ready(stable), now)
            }
            RollbackTarget::Promotion(promoted) => {
                let before = self.role_change.as_ref().map(|change| change.from.as_str())?;
                ScaledDown::of(before, ready(before), ready(promoted), Weight::FULL)
            }
            RollbackTarget::Draining(_) | RollbackTarget::Done => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ready: usize, before: usize, percent: &str) -> Option<String> {
        ScaledDown::of("v1", ready, before, percent.parse().unwrap()).map(|found| found.to_string())
    }

    #[test]
    fn half_of_the_pods_with_which_all_users_were_served_is_enough_and_fewer_are_not() {
        for (ready, before) in [(5, 10), (3, 5), (2, 3), (1, 2), (1, 1), (12, 10)] {
            assert_eq!(found(ready, before, "50%"), None, "{ready} of {before}");
        }
        for (ready, before) in [(4, 10), (2, 5), (1, 3), (0, 1)] {
            assert!(found(ready, before, "50%").is_some(), "{ready} of {before}");
        }
    }

    #[test]
    fn where_no_user_comes_back_nothing_is_too_few() {
        assert_eq!(found(1, 10, "0%"), None);
    }

    #[test]
    fn the_numbers_of_pods_and_the_share_that_comes_back_are_said() {
        assert_eq!(
            found(1, 10, "25%").as_deref(),
            Some(
                "expected at least 5 ready pods of version `v1`, to which 25% of the users would come back, found 1 ready pod: all users were \
                 served by 10"
            )
        );
    }
}
