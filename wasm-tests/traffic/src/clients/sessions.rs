//! Sessions: they begin by chance, get a version with their first request, and end after some requests.

use crate::random::Pareto;
use crate::service::{Client, Service};

/// The requests of so many seconds are planned; no gap is longer.
const SECONDS: usize = 2_048;
const GROUPS: u8 = 16;

/// A session, and when its next request comes.
struct Session {
    client: Client,
    since: u32,
    next: f64,
    number: u32,
    length: f64,
}

/// All sessions that began in the rollout. Older ones are not counted, and are on stable.
pub(crate) struct Sessions {
    /// New sessions a second.
    rate: f64,
    length: Pareto,
    gap: f64,
    /// By the second of the next request, modulo their number.
    planned: Vec<Vec<Session>>,
}

impl Sessions {
    /// Sessions with that many requests a second, once as many end as begin.
    pub(crate) fn new(rate: f64, length: Pareto, gap: f64) -> Self {
        let planned = (0..SECONDS).map(|_| Vec::new()).collect();
        Self { rate: rate / mean_requests(length), length, gap, planned }
    }

    pub(crate) fn second(&mut self, second: u32, service: &mut Service<'_>) {
        let mut due = self.planned.get_mut(index(second)).map(std::mem::take).unwrap_or_default();
        for session in due.drain(..) {
            self.go_on(session, second, service);
        }
        if let Some(planned) = self.planned.get_mut(index(second)) {
            *planned = due;
        }
        let begun = service.random.poisson(self.rate * service.scenario.load(second));
        for _ in 0..begun {
            let client = service.client(GROUPS);
            let next = f64::from(second) + service.random.unit();
            let length = service.random.pareto(self.length);
            self.go_on(Session { client, since: second, next, number: 0, length }, second, service);
        }
    }

    /// Sends the requests of a session until the end of a second.
    fn go_on(&mut self, mut session: Session, second: u32, service: &mut Service<'_>) {
        session.client.is_counted = session.since >= service.counted_since;
        let gap = self.gap * service.behaviour(session.client.is_canary).pace;
        while session.next < f64::from(second + 1) {
            let done = service.request(&mut session.client, session.number, session.next);
            session.number += 1;
            if f64::from(session.number + 1) > session.length {
                return;
            }
            session.next = done + service.random.exponential(gap);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a rollout")]
        let of_next = (session.next as u32).min(second + SECONDS as u32 - 1);
        if let Some(planned) = self.planned.get_mut(index(of_next)) {
            planned.push(session);
        }
    }
}

const fn index(second: u32) -> usize {
    second as usize % SECONDS
}

/// The mean of a length that is cut to whole requests: `P(length ≥ n)`, summed over n.
fn mean_requests(length: Pareto) -> f64 {
    let Pareto { shape, least, most } = length;
    let end = (least / most).powf(shape);
    let longer = |requests: f64| ((least / requests.max(least)).powf(shape) - end) / (1.0 - end);
    let mut requests = 1.0;
    let mut mean = 0.0;
    while requests < most {
        mean += longer(requests);
        requests += 1.0;
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_mean_of_whole_requests_is_that_of_drawn_lengths() {
        let length = Pareto { shape: 1.1, least: 3.0, most: 3000.0 };
        let mut random = Random::new(3);
        let drawn = (0..400_000).map(|_| random.pareto(length).floor()).sum::<f64>() / 4e5;
        let found = mean_requests(length);
        assert!((found - 16.0).abs() < 0.2, "the page says 16, found {found}");
        assert!((found / drawn - 1.0).abs() < 0.05, "expected {drawn}, found {found}");
    }
}
