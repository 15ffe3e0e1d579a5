//! What a rate of traffic can show, and how long it takes: said before a rollout begins.

use super::{Criteria, GROUPS};
use crate::stats::as_f64;

/// The alternatives of the test, one of which is the right one.
const ALTERNATIVES: f64 = 6.0;
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
    /// How much failures cluster by user, at least 1 (`SequentialTest::spread`).
    pub spread: f64,
}

impl Forecast {
    /// Seconds until half of the rollouts of a canary with this rate of failures are rolled back; `None` if that takes longer
    /// than a month, or forever.
    pub fn seconds_to_rollback(&self, canary_rate: f64, criteria: &Criteria) -> Option<f64> {
        let of_canary = self.responses_per_second * self.canary_share;
        let of_stable = self.responses_per_second - of_canary;
        let (canary_failures, stable_failures) = (of_canary * canary_rate, of_stable * self.stable_rate);
        let failures = canary_failures + stable_failures;
        let (p, q) = (self.canary_share, canary_failures / failures);
        if !(canary_rate > self.stable_rate && p > 0.0 && p < 1.0 && failures > 0.0) {
            return None;
        }
        // The logarithm of the evidence grows by the Kullback-Leibler divergence with each failure outside of the group
        // that is left out.
        let divergence = part(q, p) + part(1.0 - q, 1.0 - p);
        let growth = failures * divergence * (1.0 - 1.0 / as_f64(GROUPS as u64));
        let needed = (ALTERNATIVES * criteria.rollback_at()).ln() * self.spread.max(1.0);
        let mut seconds = needed / growth;
        for _ in 0..ITERATIONS {
            let left_out = excess_of_fullest_group(canary_failures * seconds) * (q / p).ln();
            seconds = 0.5 * (seconds + (needed + left_out) / growth);
        }
        (seconds < MAX_SECONDS).then_some(seconds)
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

/// How many more failures than the mean the group has that has most of them: it is left out.
fn excess_of_fullest_group(failures: f64) -> f64 {
    let groups = as_f64(GROUPS as u64);
    (2.0 * failures / groups * groups.ln()).sqrt()
}

/// A summand of the Kullback-Leibler divergence.
fn part(q: f64, p: f64) -> f64 {
    if q <= 0.0 { 0.0 } else { q * (q / p).ln() }
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
            (10.0, 0.10, (0.001, 0.01), 700.0),
            (10.0, 0.25, (0.001, 0.01), 370.0),
            (10.0, 0.10, (0.001, 0.05), 110.0),
            (10.0, 0.10, (0.01, 0.05), 250.0),
            (100.0, 0.01, (0.001, 0.01), 620.0),
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
        assert!(slight < 0.0102, "a day at 1,000 requests/s shows {slight}");
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
