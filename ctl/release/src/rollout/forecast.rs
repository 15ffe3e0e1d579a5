//! What the traffic of a rollout can show in the time of its step: said while there is time to change the plan.

use super::Rollout;
use crate::evidence::Forecast;
use crate::spec::Seconds;
use crate::stats::as_f64;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// The failures that the traffic of a step can show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RolloutForecast {
    /// Responses a second since the step began, of both versions.
    pub responses_per_second: f64,
    /// The time of the step, in seconds.
    pub hold: Seconds,
    /// The least rate of 5xx of the canary that is seen in that time, in half of such rollouts; `0.0..=1.0`. `None` if none is.
    pub least_rate: Option<f64>,
}

impl Rollout {
    /// The forecast for the step's time by the traffic since it began; `None` before both versions have had a response.
    /// Where no driver was there for a part of that time it is more.
    pub fn forecast(&self, now: Timestamp) -> Option<RolloutForecast> {
        let hold = self.current()?.hold;
        let evidence = self.evidence.server_errors();
        let (canary, stable) = (evidence.step.canary.total(), evidence.step.stable.total());
        let seconds = now.duration_since(self.step.as_ref()?.since).as_secs_f64();
        if canary.responses == 0 || stable.responses == 0 || seconds <= 0.0 {
            return None;
        }
        let responses = as_f64(canary.responses) + as_f64(stable.responses);
        let traffic = Forecast {
            responses_per_second: responses / seconds,
            canary_share: as_f64(canary.responses) / responses,
            stable_rate: evidence.test.counts().stable.total().rate(),
            spread: evidence.test.spread(),
        };
        let least_rate = traffic.least_rate(as_f64(hold.get()), &self.criteria());
        Some(RolloutForecast { responses_per_second: traffic.responses_per_second, hold, least_rate })
    }
}

impl fmt::Display for RolloutForecast {
    /// `26.7 responses/s show a canary that fails 4.2% or more within 10m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { responses_per_second, hold, least_rate } = self;
        write!(f, "{responses_per_second:.1} responses/s show ")?;
        match least_rate {
            Some(rate) => write!(f, "a canary that fails {:.1}% or more within {hold}", rate * 100.0),
            None => write!(f, "no canary that fails within {hold}"),
        }
    }
}
