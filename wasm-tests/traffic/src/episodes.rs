//! Times in which something does not work: pauses of a pod, blips of a database.

use crate::behaviour::Pauses;
use crate::random::Random;

/// One pause after another.
#[derive(Clone, Debug)]
pub(crate) struct Episodes {
    pauses: Pauses,
    /// Whether the length of each is drawn, or the same.
    is_random: bool,
    begin: f64,
    end: f64,
}

impl Episodes {
    pub(crate) fn of_length(pauses: Pauses, random: &mut Random) -> Self {
        Self::new(pauses, false, random)
    }

    /// Pauses whose length is exponential.
    pub(crate) fn of_random_length(pauses: Pauses, random: &mut Random) -> Self {
        Self::new(pauses, true, random)
    }

    fn new(pauses: Pauses, is_random: bool, random: &mut Random) -> Self {
        let mut episodes = Self { pauses, is_random, begin: 0.0, end: 0.0 };
        episodes.draw(random);
        episodes
    }

    fn draw(&mut self, random: &mut Random) {
        self.begin = self.end + random.exponential(self.pauses.gap);
        let length = self.pauses.length;
        self.end = self.begin + if self.is_random { random.exponential(length) } else { length };
    }

    /// To the first episode that is not over at that time.
    pub(crate) fn advance(&mut self, now: f64, random: &mut Random) {
        while self.end <= now {
            self.draw(random);
        }
    }

    /// The share of responses that fails for it at that time, which is not far from where it was advanced to.
    pub(crate) fn rate_at(&self, at: f64) -> f64 {
        if self.begin <= at && at < self.end { self.pauses.rate } else { 0.0 }
    }
}

/// The restarts of a pod.
#[derive(Clone, Debug)]
pub(crate) struct Restarts {
    gap: f64,
    last: f64,
    next: f64,
    number: u64,
}

impl Restarts {
    /// With that many seconds between two of them on average (exponential).
    pub(crate) fn new(gap: f64, random: &mut Random) -> Self {
        Self { gap, last: f64::NEG_INFINITY, next: random.exponential(gap), number: 0 }
    }

    pub(crate) fn advance(&mut self, now: f64, random: &mut Random) {
        while self.next <= now {
            self.last = self.next;
            self.number += 1;
            self.next += random.exponential(self.gap);
        }
    }

    /// How many there were.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// When the last one was.
    pub(crate) const fn last(&self) -> f64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_3_s_in_each_30_s_is_a_tenth_of_the_time() {
        for is_random in [false, true] {
            let mut random = Random::new(5);
            let pauses = Pauses { gap: 27.0, length: 3.0, rate: 0.5 };
            let mut episodes = Episodes::new(pauses, is_random, &mut random);
            let mut tenths = 0;
            for tenth in 0..1_000_000 {
                let now = f64::from(tenth) / 10.0;
                episodes.advance(now, &mut random);
                tenths += u32::from(episodes.rate_at(now) > 0.0);
            }
            let share = f64::from(tenths) / 1e6;
            assert!((share - 0.1).abs() < 0.01, "expected 10 % of the time, found {share}");
        }
    }
}
