//! What a rate of traffic can show, and how long it takes: said before a rollout begins.

use super::group_ratios::said_by_group;
use super::{Criteria, GROUPS};
use crate::stats::as_f64;

/// The stake by the part of it that is bet from the start on the right one of the alternatives: a half of a seventh.
const STAKE: f64 = 14.0;
/// Steps of the two searches below; each halves the error or better.
const ITERATIONS: usize = 60;
/// Longer than this nobody waits.
const MAX_SECONDS: f64 = 30.0 * 86_400.0;

/// The traffic of a release, and what is known of its failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Responses a second, of both versions.
    pub responses_per_second: f64,
    /// The canary's share of them, `0.0..=1.0`.
    pub canary_share: f64,
    /// The rate of failures of stable, `0.0..=1.0`.
    pub stable_rate: f64,
    /// The clustering of failures by user, at least 1 (`SequentialTest::spread`).
    pub spread: f64,
}

impl Forecast {
    /// Seconds until half of the rollouts of a canary with this rate of failures are rolled back; `None` if that takes longer
    /// than a month, or forever.
    pub fn seconds_to_rollback(&self, canary_rate: f64, criteria: &Criteria) -> Option<f64> {
        let (p, q) = (self.canary_share, canary_rate / self.stable_rate);
        if !(canary_rate > self.stable_rate && p > 0.0 && p < 1.0 && self.responses_per_second > 0.0) {
            return None;
        }
        let needed = (STAKE * criteria.rollback_at()).ln();
        let suffices = |seconds| self.expected_evidence(seconds, canary_rate, q.clamp(1.25, 30.0)) >= needed;
        if !suffices(MAX_SECONDS) {
            return None;
        }
        let (mut low, mut high) = (0.0, MAX_SECONDS);
        for _ in 0..ITERATIONS {
            let middle = f64::midpoint(low, high);
            if suffices(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// Nats against a canary with this rate of failures after so many seconds, where the test bets on `ratio`.
    fn expected_evidence(&self, seconds: f64, canary_rate: f64, ratio: f64) -> f64 {
        let groups = as_f64(GROUPS as u64);
        let of_group = self.responses_per_second * seconds / groups;
        let failed = of_group * self.canary_share * canary_rate;
        let scale = 1.0 / (ratio - 1.0).mul_add(self.canary_share, 1.0);
        let for_canary = of_group * (1.0 - self.canary_share) * self.stable_rate * scale.ln();
        let spread = self.spread.max(1.0);
        let says = |failures: f64| said_by_group(failures.mul_add((ratio * scale).ln(), for_canary) / spread);
        groups * mean_of_poisson(failed, says)
    }

    /// The least rate of failures of the canary for which `seconds` suffice, `0.0..=1.0`.
    pub fn least_rate(&self, seconds: f64, criteria: &Criteria) -> Option<f64> {
        let suffices =
            |rate| self.seconds_to_rollback(rate, criteria).is_some_and(|needed| needed <= seconds);
        if !suffices(1.0) {
            return None;
        }
        let (mut low, mut high) = (self.stable_rate, 1.0);
        for _ in 0..ITERATIONS {
            let middle = f64::midpoint(low, high);
            if suffices(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// Seconds until a step has seen the responses of the canary that it must; `None` without traffic of the canary.
    pub fn seconds_to_enough(&self, criteria: &Criteria) -> Option<f64> {
        let of_canary = self.responses_per_second * self.canary_share;
        let seconds = as_f64(criteria.min_responses) / of_canary;
        (of_canary > 0.0 && seconds < MAX_SECONDS).then_some(seconds)
    }
}

/// The mean of a function of a Poisson number; from a mean of 50 on its value at the mean.
fn mean_of_poisson(mean: f64, of: impl Fn(f64) -> f64) -> f64 {
    const CERTAIN: f64 = 50.0;
    if mean >= CERTAIN {
        return of(mean);
    }
    let (mut probability, mut sum) = ((-mean).exp(), 0.0);
    for number in 0..150_u32 {
        let number = f64::from(number);
        sum += probability * of(number);
        probability *= mean / (number + 1.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE_KIND: Criteria =
        Criteria { false_alarm: 0.05, max_errors: None, min_responses: 300, max_pod_restarts: 3, kinds: 1 };

    fn forecast(responses_per_second: f64, canary_share: f64, stable_rate: f64) -> Forecast {
        Forecast { responses_per_second, canary_share, stable_rate, spread: 1.0 }
    }

    /// Medians of simulated rollouts at a rollback line of 20 (`docs/evidence.md`).
    #[test]
    fn the_time_to_a_rollback_is_about_that_of_simulated_rollouts() {
        for (responses, share, rates, simulated) in [
            (10.0, 0.10, (0.001, 0.01), 730.0),
            (10.0, 0.25, (0.001, 0.01), 330.0),
            (10.0, 0.10, (0.001, 0.05), 110.0),
            (10.0, 0.10, (0.01, 0.05), 220.0),
            (100.0, 0.01, (0.001, 0.01), 540.0),
            (100.0, 0.10, (0.001, 0.01), 80.0),
        ] {
            let found = forecast(responses, share, rates.0).seconds_to_rollback(rates.1, &ONE_KIND).unwrap();
            let ratio = found / simulated;
            assert!((0.6..1.6).contains(&ratio), "{responses} {share} {rates:?}: {found} of {simulated}");
        }
    }

    #[test]
    fn the_least_rate_that_a_time_can_show_takes_that_time() {
        let traffic = forecast(10.0, 0.1, 0.001);
        let rate = traffic.least_rate(1_800.0, &ONE_KIND).unwrap();
        let seconds = traffic.seconds_to_rollback(rate, &ONE_KIND).unwrap();
        assert!((seconds - 1_800.0).abs() < 5.0, "{rate}: {seconds}");
        let slight = forecast(1_000.0, 0.5, 0.01).least_rate(86_400.0, &ONE_KIND).unwrap();
        assert!(slight < 0.0113, "a day at 1,000 requests/s shows {slight}");
        assert_eq!(traffic.least_rate(1.0, &ONE_KIND), None, "a second shows nothing");
    }

    #[test]
    fn what_cannot_be_shown_is_said() {
        let never = |traffic: Forecast, rate| traffic.seconds_to_rollback(rate, &ONE_KIND);
        assert_eq!(never(forecast(10.0, 0.0, 0.001), 0.05), None, "no canary");
        assert_eq!(never(forecast(10.0, 1.0, 0.001), 0.05), None, "no stable");
        assert_eq!(never(forecast(0.0, 0.1, 0.001), 0.05), None, "no traffic");
        assert_eq!(never(forecast(10.0, 0.1, 0.05), 0.05), None, "as good as stable");
        assert_eq!(never(forecast(0.001, 0.01, 0.01), 0.011), None, "in years");
        assert_eq!(forecast(10.0, 0.1, 0.0).seconds_to_enough(&ONE_KIND), Some(300.0));
        assert_eq!(forecast(10.0, 0.0, 0.0).seconds_to_enough(&ONE_KIND), None);
    }
}
