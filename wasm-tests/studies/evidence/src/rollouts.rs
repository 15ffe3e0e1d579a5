//! Many rollouts of a scenario, each seen by every detector.

use crate::detectors::{Detector, FixedLimit, HOLD, ROLLBACK, Sequential, WithoutGroups, ZTest};
use crate::users::{INTERVAL, Scenario, Users};

/// A detector of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The product's test at its rollback line.
    Rollback,
    /// The product's test at its hold line.
    Hold,
    /// The test without groups and spread.
    WithoutGroups,
    /// A z-test at every observation.
    ZTest,
    /// Flagger's fixed limit.
    FixedLimit,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ZTest, Self::FixedLimit, Self::WithoutGroups, Self::Hold, Self::Rollback];

    /// Its column and its line of the plot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rollback => "rolled back (E* ≥ 20)",
            Self::Hold => "held (E* ≥ 4)",
            Self::WithoutGroups => "E ≥ 20 without groups and spread",
            Self::ZTest => "z-test at each observation",
            Self::FixedLimit => "Flagger, 99 %",
        }
    }

    fn detector(self) -> Box<dyn Detector> {
        match self {
            Self::Rollback => Box::new(Sequential::new(ROLLBACK)),
            Self::Hold => Box::new(Sequential::new(HOLD)),
            Self::WithoutGroups => Box::<WithoutGroups>::default(),
            Self::ZTest => Box::<ZTest>::default(),
            Self::FixedLimit => Box::<FixedLimit>::default(),
        }
    }
}

/// When a detector first said that the canary is worse, in each of some rollouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alarms {
    /// Seconds; `None` where it never did.
    first: Vec<Option<u32>>,
}

impl Alarms {
    /// The share of rollouts with an alarm by then, `0.0..=1.0`.
    #[expect(clippy::cast_precision_loss, reason = "some thousand rollouts")]
    pub fn share_by(&self, seconds: u32) -> f64 {
        let early = |first: &&Option<u32>| first.is_some_and(|first| first <= seconds);
        self.first.iter().filter(early).count() as f64 / self.first.len().max(1) as f64
    }

    /// The median of the seconds of all rollouts; `None` where half of them had no alarm.
    pub fn median(&self) -> Option<u32> {
        let mut all: Vec<u32> = self.first.iter().map(|first| first.unwrap_or(u32::MAX)).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().filter(|seconds| *seconds < u32::MAX)
    }

    /// The number of rollouts.
    pub fn rollouts(&self) -> usize {
        self.first.len()
    }
}

/// Simulates rollouts of a scenario that last so many seconds; the seeds are the numbers from 0.
pub fn simulate<const N: usize>(
    scenario: Scenario,
    methods: [Method; N],
    rollouts: u64,
    seconds: u32,
) -> [Alarms; N] {
    let mut alarms: [Alarms; N] = std::array::from_fn(|_| Alarms::default());
    for seed in 0..rollouts {
        let mut users = Users::new(scenario, seed);
        let mut detectors = methods.map(Method::detector);
        let mut first = [None; N];
        for end in (INTERVAL..=seconds).step_by(INTERVAL as usize) {
            if first.iter().all(Option::is_some) {
                break;
            }
            let interval = users.interval();
            for (detector, first) in detectors.iter_mut().zip(&mut first) {
                if first.is_none() && detector.observe(&interval) {
                    *first = Some(end);
                }
            }
        }
        for (alarms, first) in alarms.iter_mut().zip(first) {
            alarms.first.push(first);
        }
    }
    alarms
}
