//! The weights that a release is to walk through.

use assignment::Weight;
use assignment::weight::WeightError;
use std::str::FromStr;

/// Weights in the order in which they are set; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightSchedule(Vec<Weight>);

/// The error of a text that is no schedule of weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightScheduleError {
    /// One of its weights is none.
    #[error("step {step} of the weights: {source}")]
    Weight {
        /// Which one, counted from 1.
        step: usize,
        /// Its fault.
        source: WeightError,
    },
}

impl WeightSchedule {
    /// The weights in order.
    pub fn weights(&self) -> &[Weight] {
        &self.0
    }
}

impl FromStr for WeightSchedule {
    type Err = WeightScheduleError;

    /// Reads percentages between commas: `0,1,12.5,100`.
    fn from_str(text: &str) -> Result<Self, WeightScheduleError> {
        let weight = |(index, part): (usize, &str)| {
            part.parse().map_err(|source| WeightScheduleError::Weight { step: index + 1, source })
        };
        text.split(',').enumerate().map(weight).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_percentages_between_commas() {
        let schedule: WeightSchedule = "0, 0.5,12.5%,100".parse().unwrap();
        let points: Vec<u16> = schedule.weights().iter().map(|weight| weight.basis_points()).collect();
        assert_eq!(points, [0, 50, 1_250, 10_000]);
    }

    #[test]
    fn a_wrong_step_is_named_by_its_number() {
        let error = "0,10,101".parse::<WeightSchedule>().unwrap_err();
        assert!(
            error.to_string().starts_with("step 3 of the weights: expected a weight of 0% to 100%"),
            "{error}"
        );
        "".parse::<WeightSchedule>().unwrap_err();
    }
}
