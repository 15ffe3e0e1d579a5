//! How often the containers of both versions were restarted. A container that crashes and comes back between two requests
//! fails none of them, and loses what it had in memory.

use crate::format::counted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The canary's containers must restart more than so many times as often as stable's, pod by pod: what shakes the nodes of both is
/// no fault of the canary.
const TIMES_AS_OFTEN: u64 = 2;

/// The restarts of the containers of each pod since it was created, by the pods' UIDs, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodRestarts {
    /// Of the canary.
    pub canary: BTreeMap<String, u64>,
    /// Of stable.
    pub stable: BTreeMap<String, u64>,
}

/// The restarts of both versions that were observed in a rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestartCounts {
    /// Of the canary.
    pub canary: RestartCount,
    /// Of stable.
    pub stable: RestartCount,
}

/// The restarts of one version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestartCount {
    /// Restarts of containers.
    pub restarts: u64,
    /// The most pods that were observed at once.
    pub pods: u64,
}

impl PodRestarts {
    /// The restarts between two observations. All of a pod that was created between them count; those of a pod that is gone
    /// are lost.
    pub fn between(earlier: &Self, later: &Self) -> RestartCounts {
        let count = |earlier: &BTreeMap<String, u64>, later: &BTreeMap<String, u64>| {
            let new = |(uid, restarts): (&String, &u64)| {
                restarts.saturating_sub(earlier.get(uid).copied().unwrap_or_default())
            };
            RestartCount { restarts: later.iter().map(new).sum(), pods: later.len() as u64 }
        };
        RestartCounts {
            canary: count(&earlier.canary, &later.canary),
            stable: count(&earlier.stable, &later.stable),
        }
    }
}

impl PodRestarts {
    /// The pods of the canary that have lost what they had in memory between two observations: they ended, or a container of theirs did.
    pub fn canary_pods_ended(earlier: &Self, later: &Self) -> u64 {
        let goes_on = |(uid, restarts): &(&String, &u64)| later.canary.get(*uid) == Some(*restarts);
        earlier.canary.iter().filter(|pod| !goes_on(pod)).count() as u64
    }
}

impl RestartCounts {
    /// Adds what was observed later.
    pub(super) fn add(&mut self, later: &Self) {
        for (sum, more) in [(&mut self.canary, later.canary), (&mut self.stable, later.stable)] {
            sum.restarts = sum.restarts.saturating_add(more.restarts);
            sum.pods = sum.pods.max(more.pods);
        }
    }

    /// The pods of the canary and of stable.
    pub(super) const fn pods(&self) -> [u64; 2] {
        [self.canary.pods, self.stable.pods]
    }

    /// Whether no pod was observed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the canary's containers were restarted more than `most` times, and clearly more often than stable's.
    pub(crate) fn exceed(&self, most: u64) -> bool {
        let Self { canary, stable } = self;
        // restarts / pods of both, compared without a division.
        let of_canary = canary.restarts.saturating_mul(stable.pods.max(1));
        let of_stable = stable.restarts.saturating_mul(canary.pods.max(1));
        canary.restarts > most && of_canary > of_stable.saturating_mul(TIMES_AS_OFTEN)
    }
}

impl fmt::Display for RestartCounts {
    /// `restarts: canary 4 in 2 pods, stable 0 in 10 pods`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "restarts: canary {}, stable {}", self.canary, self.stable)
    }
}

impl fmt::Display for RestartCount {
    /// `4 in 2 pods`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in {}",
            self.restarts,
            counted(usize::try_from(self.pods).unwrap_or(usize::MAX), "pod", "pods")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods(restarts: &[(&str, u64)]) -> BTreeMap<String, u64> {
        restarts.iter().map(|(uid, restarts)| ((*uid).to_owned(), *restarts)).collect()
    }

    #[test]
    fn restarts_count_from_the_first_observation_of_a_pod_on() {
        let earlier = PodRestarts { canary: pods(&[("a", 5), ("gone", 9)]), stable: pods(&[("s", 1)]) };
        let later = PodRestarts { canary: pods(&[("a", 7), ("new", 1)]), stable: pods(&[("s", 1)]) };
        let found = PodRestarts::between(&earlier, &later);
        assert_eq!(found.canary, RestartCount { restarts: 3, pods: 2 });
        assert_eq!(found.stable, RestartCount { restarts: 0, pods: 1 });
    }

    #[test]
    fn a_pod_of_the_canary_that_is_gone_or_has_restarted_has_ended() {
        let at = |canary: &[(&str, u64)]| PodRestarts { canary: pods(canary), stable: pods(&[]) };
        let earlier = at(&[("a", 5), ("b", 0), ("c", 1)]);
        for (later, ended) in [
            (&[("a", 5), ("b", 0), ("c", 1)][..], 0),
            (&[("a", 5), ("b", 0), ("c", 1), ("new", 3)][..], 0),
            (&[("a", 5), ("b", 0)][..], 1),
            (&[("a", 7), ("b", 0), ("c", 2)][..], 2),
            (&[][..], 3),
        ] {
            assert_eq!(PodRestarts::canary_pods_ended(&earlier, &at(later)), ended, "{later:?}");
        }
    }

    #[test]
    fn restarts_of_stable_pods_excuse_those_of_the_canary() {
        let counts = |canary, stable| RestartCounts {
            canary: RestartCount { restarts: canary, pods: 2 },
            stable: RestartCount { restarts: stable, pods: 10 },
        };
        assert!(!counts(3, 0).exceed(3), "no more than allowed");
        assert!(counts(4, 0).exceed(3));
        assert!(counts(4, 9).exceed(3), "2 a pod against 0.9");
        assert!(!counts(4, 10).exceed(3), "2 a pod against 1");
        assert!(
            RestartCounts { stable: RestartCount::default(), ..counts(4, 0) }.exceed(3),
            "no pod of stable"
        );
    }
}
