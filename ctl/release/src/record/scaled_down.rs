//! Whether a version has fewer ready pods than all users need who come back to it.
//!
//! ```text
//! expected   at least half of the pods that serve all users now
//! found      its ready pods now
//!
//! serving    min(noted, stable + min(canary, noted × weight))
//! noted      stable's ready pods when the canary got its first users: all of them were served by these
//! stable     its ready pods now
//! canary     its ready pods now; those beyond its share of the noted ones serve nobody
//! ```
//!
//! Why half: after a rollback no pod of stable has more than twice the load that a pod is known to carry – of the noted ones with all users, of stable
//! now, or of the canary now. An autoscaler leaves about that much room, and needs minutes for more: a metric that is a minute old, then
//! pods that start. Until then all users would meet overloaded pods, those too who never were on the canary. A rollout that is held costs time.
//!
//! Why not half of the noted pods alone: an autoscaler scales stable down at night, and the load that comes back is that of the night. Why the canary counts:
//! without it nobody would see that stable was scaled from ten pods to one while the canary serves half of the users with its own.
//!
//! An autoscaler that follows the users keeps `noted × (1 - weight)` pods of stable, so it is below half from a weight of more than 50 % on. That is
//! no false alarm: with 75 % of the users on the canary a pod of stable would get four times its load.

use super::{Record, RollbackTarget};
use crate::state::{ScaledDown, Undersized};
use assignment::Weight;
use assignment::contract::Role;

/// The pods that serve all users, of which the canary has `weight`. Without a weight they are stable's, and none is missing.
fn serving(noted: usize, stable: usize, canary: usize, weight: Weight) -> usize {
    let share = noted.saturating_mul(usize::from(weight.basis_points()));
    let share = share.div_ceil(usize::from(Weight::FULL.basis_points()));
    noted.min(stable.saturating_add(canary.min(share)))
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

    /// Whether stable has too few of its pods for the users who would come back from the canary. `ready` says how many pods of a version are
    /// ready, `now` is in seconds since 1970.
    pub fn scaled_down(&self, ready: impl Fn(&str) -> usize, now: u64) -> Option<ScaledDown> {
        let canary = self.state.version_of(Role::Canary)?;
        let stable = self.state.version_of(Role::Stable)?;
        let (weight, found) = (self.state.weight_at(now), ready(stable));
        ScaledDown::of(stable, found, serving(self.stable_pods?, found, ready(canary), weight), weight)
    }

    /// Whether the canary has too few pods for all users. `ready` and `now` are those of [`Record::scaled_down`].
    pub fn undersized(&self, ready: impl Fn(&str) -> usize, now: u64) -> Option<Undersized> {
        let canary = self.state.version_of(Role::Canary)?;
        let (found, stable) = (ready(canary), self.state.version_of(Role::Stable).map_or(0, &ready));
        let noted = self.stable_pods.unwrap_or(stable);
        Undersized::of(canary, found, serving(noted, stable, found, self.state.weight_at(now)))
    }

    /// The same of the version that a rollback makes stable. Of a promotion all users come back, and the version that is taken back serves them
    /// now.
    pub fn scaled_down_for(
        &self,
        target: &RollbackTarget,
        ready: impl Fn(&str) -> usize,
        now: u64,
    ) -> Option<ScaledDown> {
        match target {
            RollbackTarget::Canary(_) => self.scaled_down(ready, now),
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

    fn found(noted: usize, [stable, canary]: [usize; 2], percent: &str) -> Option<ScaledDown> {
        let weight = percent.parse().unwrap();
        ScaledDown::of("v1", stable, serving(noted, stable, canary, weight), weight)
    }

    #[test]
    fn stable_has_to_have_half_of_the_pods_that_serve_all_users_now() {
        // Noted pods, those of stable and of the canary, the weight, and the pods that stable should have.
        let rows = [
            ("a tenth of the users", 10, [9, 1], "10%", None),
            ("half of them", 10, [5, 5], "50%", None),
            ("half of an odd number is more than its half", 5, [2, 3], "60%", Some(3)),
            ("scaled from ten to one, a canary of full size", 10, [1, 10], "25%", Some(2)),
            ("the same with half of the users", 10, [1, 10], "50%", Some(3)),
            ("the same with all users", 10, [1, 10], "100%", Some(5)),
            ("none is ready", 10, [0, 5], "50%", Some(3)),
            ("at night, an autoscaler for each version", 10, [3, 1], "10%", None),
            ("at night, half of the users", 10, [2, 2], "50%", None),
            ("at night, a canary of full size", 10, [3, 10], "10%", None),
            ("an autoscaler that follows 60% of the users", 10, [4, 6], "60%", Some(5)),
            ("an autoscaler that follows 75% of the users", 10, [3, 8], "75%", Some(5)),
            ("an autoscaler that has followed all users", 10, [1, 10], "100%", Some(5)),
            ("the same with `minReplicas` of half", 10, [5, 10], "100%", None),
            ("more users than when it began", 10, [5, 30], "50%", None),
            ("nobody would come back", 10, [1, 10], "0%", None),
            ("a pod of each", 1, [1, 1], "50%", None),
        ];
        for (name, noted, pods, percent, expected) in rows {
            let found = found(noted, pods, percent);
            assert_eq!(found.as_ref().map(|found| found.expected), expected, "{name}: {found:?}");
        }
    }

    /// Nothing is said only where a pod of stable would get at most twice the load that a pod is known to carry.
    #[test]
    fn where_nothing_is_missing_no_pod_gets_more_than_twice_the_load_that_a_pod_carries() {
        for noted in 1..=12 {
            for (stable, canary) in (1..=12).flat_map(|stable| (1..=12).map(move |canary| (stable, canary))) {
                for percent in [1, 5, 10, 25, 50, 60, 75, 90, 100] {
                    if found(noted, [stable, canary], &format!("{percent}%")).is_some() {
                        continue;
                    }
                    // The load of all users is 100; each side is times `noted * stable * canary`.
                    let after = 100 * noted * stable * canary / stable;
                    let carried =
                        [100 * stable * canary, (100 - percent) * noted * canary, percent * noted * stable];
                    let most = carried.into_iter().max().unwrap_or_default();
                    assert!(after <= 2 * most, "{stable} of {noted}, {canary} of the canary, {percent}%");
                }
            }
        }
    }

    #[test]
    fn the_numbers_of_pods_and_the_share_that_comes_back_are_said() {
        assert_eq!(
            found(10, [1, 10], "75%").map(|found| found.to_string()).as_deref(),
            Some(
                "expected at least 5 ready pods of version `v1`, to which 75% of the users would come back, found 1 ready pod: all users are \
                 served by 9"
            )
        );
    }
}
