//! Random numbers of the distributions that the model has. The same seed gives the same numbers on every machine.

use fastrand::Rng;

/// Above this mean a Poisson number is drawn in parts: `exp(-mean)` is 0 for a large one.
const MAX_POISSON_MEAN: f64 = 100.0;

/// A source of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// Evenly from `0.0..1.0`.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.f64()
    }

    /// Whether something of that probability happens. Draws nothing for what never happens.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    pub(crate) fn between(&mut self, least: f64, most: f64) -> f64 {
        (most - least).mul_add(self.unit(), least)
    }

    pub(crate) fn below(&mut self, end: u8) -> u8 {
        self.0.u8(..end.max(1))
    }

    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Pareto, cut at both ends.
    ///
    /// # Source
    /// I. Aban, M. Meerschaert and A. Panorska, "Parameter estimation for the truncated Pareto distribution", 2006.
    pub(crate) fn pareto(&mut self, pareto: Pareto) -> f64 {
        let Pareto { shape, least, most } = pareto;
        let kept = 1.0 - (least / most).powf(shape);
        least / (1.0 - self.unit() * kept).powf(1.0 / shape)
    }

    /// The number of events, where so many are expected.
    pub(crate) fn poisson(&mut self, mean: f64) -> u32 {
        let (mut number, mut left) = (0, mean);
        while left > 0.0 {
            let end = (-left.min(MAX_POISSON_MEAN)).exp();
            left -= MAX_POISSON_MEAN;
            let mut product = self.unit();
            while product > end {
                product *= self.unit();
                number += 1;
            }
        }
        number
    }
}

/// A Pareto distribution that is cut at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// The exponent of its tail; not 1.
    pub shape: f64,
    /// The least value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

impl Pareto {
    /// Its mean.
    pub fn mean(self) -> f64 {
        let Self { shape, least, most } = self;
        let kept = 1.0 - (least / most).powf(shape);
        least * shape / (shape - 1.0) * (1.0 - (least / most).powf(shape - 1.0)) / kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    fn mean(mut draw: impl FnMut(&mut Random) -> f64) -> f64 {
        let mut random = Random::new(7);
        (0..DRAWS).map(|_| draw(&mut random)).sum::<f64>() / f64::from(DRAWS)
    }

    #[test]
    fn each_distribution_has_its_mean() {
        let lengths = Pareto { shape: 1.1, least: 3.0, most: 3000.0 };
        assert!((lengths.mean() - 16.45).abs() < 0.1, "{}", lengths.mean());
        for (found, expected) in [
            (mean(|random| random.exponential(10.0)), 10.0),
            (mean(|random| random.between(2.0, 4.0)), 3.0),
            (mean(|random| f64::from(random.poisson(0.3))), 0.3),
            (mean(|random| f64::from(random.poisson(250.0))), 250.0),
            (mean(|random| f64::from(u8::from(random.happens(0.02)))), 0.02),
            (mean(|random| random.pareto(lengths)), lengths.mean()),
        ] {
            assert!((found / expected - 1.0).abs() < 0.05, "expected a mean of {expected}, found {found}");
        }
    }

    #[test]
    fn a_pareto_number_keeps_its_ends() {
        let pareto = Pareto { shape: 1.1, least: 3.0, most: 3000.0 };
        let mut random = Random::new(1);
        let all: Vec<f64> = (0..DRAWS).map(|_| random.pareto(pareto)).collect();
        assert!(all.iter().all(|length| (3.0..=3000.0).contains(length)));
        let long = all.iter().filter(|length| **length > 30.0).count();
        let share = f64::from(u32::try_from(long).unwrap()) / f64::from(DRAWS);
        assert!((share - 0.0794).abs() < 0.005, "10^-1.1 of all are ten times the least, found {share}");
    }
}
