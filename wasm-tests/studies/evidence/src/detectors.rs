//! The test of `canary_release::evidence`, and others that operators use.

use crate::users::INTERVAL;
use canary_release::evidence::{ResponseCount, SequentialTest, VersionCounts};
use canary_release::stats::as_f64;

/// The line of one kind of failure at 5 % of false alarms.
pub const ROLLBACK: f64 = 20.0;
/// The line at which a rollout holds.
pub const HOLD: f64 = 4.0;

/// Reads each interval and says when the canary is worse.
pub trait Detector {
    /// Reads an interval; whether this says that the canary is worse.
    fn observe(&mut self, interval: &VersionCounts) -> bool;
}

/// The test of the product at a line.
#[derive(Clone, Debug)]
pub struct Sequential {
    test: SequentialTest,
    line: f64,
}

/// The same without groups of users and without a correction for their spread.
#[derive(Clone, Debug, Default)]
pub struct WithoutGroups {
    log_ratios: [f64; RATIOS.len()],
}

/// Two proportions compared at every observation as if it were the only one, at 5 % on two sides.
#[derive(Clone, Debug, Default)]
pub struct ZTest {
    canary: ResponseCount,
    stable: ResponseCount,
}

/// A fixed limit as Flagger has it by default: each minute at least 99 % of the canary's responses succeed; the fifth
/// failed check is a rollback, and a minute without responses is one.
#[derive(Clone, Debug, Default)]
pub struct FixedLimit {
    minute: ResponseCount,
    seconds: u32,
    failed_checks: u32,
}

/// The alternatives of the test: those of `canary_release::evidence`.
const RATIOS: [f64; 6] = [1.5, 2.0, 3.0, 5.0, 10.0, 30.0];

impl Sequential {
    /// The test at a line.
    pub fn new(line: f64) -> Self {
        Self { test: SequentialTest::default(), line }
    }
}

impl Detector for Sequential {
    fn observe(&mut self, interval: &VersionCounts) -> bool {
        let mut step = *self.test.counts();
        step.add(interval);
        self.test.add(interval, &step, INTERVAL.into());
        self.test.log_evidence().reaches(self.line)
    }
}

impl Detector for WithoutGroups {
    fn observe(&mut self, interval: &VersionCounts) -> bool {
        let (canary, stable) = (interval.canary.total(), interval.stable.total());
        let (of_canary, of_stable) = (as_f64(canary.responses), as_f64(stable.responses));
        if of_canary > 0.0 && of_stable > 0.0 {
            for (sum, ratio) in self.log_ratios.iter_mut().zip(RATIOS) {
                let scale = (of_canary + of_stable) / ratio.mul_add(of_canary, of_stable);
                *sum += as_f64(canary.failed) * (ratio * scale).ln() + as_f64(stable.failed) * scale.ln();
            }
        }
        let mean: f64 = self.log_ratios.iter().map(|log| log.exp()).sum::<f64>() / 6.0;
        mean >= ROLLBACK
    }
}

impl Detector for ZTest {
    fn observe(&mut self, interval: &VersionCounts) -> bool {
        add(&mut self.canary, interval.canary.total());
        add(&mut self.stable, interval.stable.total());
        let (canary, stable) = (as_f64(self.canary.responses), as_f64(self.stable.responses));
        let pooled = as_f64(self.canary.failed + self.stable.failed) / (canary + stable);
        let error = (pooled * (1.0 - pooled) * (1.0 / canary + 1.0 / stable)).sqrt();
        (self.canary.rate() - self.stable.rate()) / error > 1.96
    }
}

impl Detector for FixedLimit {
    fn observe(&mut self, interval: &VersionCounts) -> bool {
        add(&mut self.minute, interval.canary.total());
        self.seconds += INTERVAL;
        if self.seconds.is_multiple_of(60) {
            let is_failed = self.minute.responses == 0 || self.minute.rate() > 0.01;
            self.failed_checks += u32::from(is_failed);
            self.minute = ResponseCount::default();
        }
        self.failed_checks >= 5
    }
}

fn add(sum: &mut ResponseCount, more: ResponseCount) {
    sum.responses += more.responses;
    sum.failed += more.failed;
}
