//! Users who stay: each has a bucket, and is on the canary while the weight is above it.

use crate::random::Pareto;
use crate::service::{Client, Service};

const BUCKETS: f64 = 1e4;
/// The number of a request of a user who has been there for long.
const LATER: u32 = u32::MAX;

struct User {
    client: Client,
    bucket: f64,
}

/// A fixed population.
pub(crate) struct Users {
    /// Requests a second.
    rate: f64,
    groups: u8,
    each: Vec<User>,
    /// The activity of each user and all before, the largest last.
    activity: Vec<f64>,
}

impl Users {
    pub(crate) const fn new(rate: f64, groups: u8) -> Self {
        Self { rate, groups, each: Vec::new(), activity: Vec::new() }
    }

    /// Adds users.
    pub(crate) fn add(&mut self, count: u32, activity: Pareto, service: &mut Service<'_>) {
        for _ in 0..count {
            let client = service.client(self.groups);
            let bucket = (service.random.unit() * BUCKETS).floor();
            let before = self.activity.last().copied().unwrap_or_default();
            self.each.push(User { client, bucket });
            self.activity.push(before + service.random.pareto(activity));
        }
    }

    pub(crate) fn second(&mut self, second: u32, service: &mut Service<'_>) {
        let sent = service.random.poisson(self.rate * service.scenario.load(second));
        let all = self.activity.last().copied().unwrap_or_default();
        for _ in 0..sent {
            let at = f64::from(second) + service.random.unit();
            let drawn = service.random.unit() * all;
            let index = self.activity.partition_point(|until| *until <= drawn);
            let Some(user) = self.each.get_mut(index) else { continue };
            user.client.is_canary = user.bucket < f64::from(service.weight);
            service.request(&mut user.client, LATER, at);
        }
    }
}
