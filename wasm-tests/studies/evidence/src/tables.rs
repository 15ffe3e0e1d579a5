//! The scenarios of the page.

use crate::rollouts::{Alarms, Method, simulate};
use crate::users::{Clustering, Scenario};

/// Half an hour, in seconds.
pub const HALF_HOUR: u32 = 1_800;
/// Two hours, in seconds.
pub const TWO_HOURS: u32 = 7_200;
/// The weights of the table of delays.
pub const WEIGHTS: [f64; 4] = [0.01, 0.05, 0.10, 0.25];

/// A row of the table of false alarms: both versions are equally good.
#[derive(Clone, Debug)]
pub struct FalseAlarms {
    /// What was simulated.
    pub scenario: Scenario,
    /// Of each method, over two hours.
    pub alarms: [Alarms; Method::ALL.len()],
}

/// A row of the table of delays: the canary is worse.
#[derive(Clone, Debug)]
pub struct Delays {
    /// What was simulated, at the first weight.
    pub scenario: Scenario,
    /// Alarms of the product's test by weight, with independent and with clustered failures.
    pub alarms: [[Alarms; 2]; WEIGHTS.len()],
}

const fn equal(requests_per_second: u32, weight: f64, rate: f64, clustering: Clustering) -> Scenario {
    Scenario { requests_per_second, weight, canary_rate: rate, stable_rate: rate, clustering }
}

/// The rows of the table of false alarms.
pub const EQUAL: [Scenario; 7] = [
    equal(10, 0.1, 0.01, Clustering::Independent),
    equal(10, 0.1, 0.01, Clustering::FewUsers),
    equal(10, 0.5, 0.01, Clustering::FewUsers),
    equal(10, 0.1, 0.001, Clustering::FewUsers),
    equal(10, 0.1, 0.001, Clustering::FewUsersAndBot),
    equal(100, 0.1, 0.01, Clustering::FewUsers),
    equal(100, 0.1, 0.001, Clustering::FewUsersAndBot),
];

/// The rows of the table of delays: requests a second, the rate of stable, and that of the canary.
pub const WORSE: [(u32, f64, f64); 6] = [
    (10, 0.001, 0.01),
    (10, 0.001, 0.05),
    (10, 0.01, 0.05),
    (100, 0.001, 0.01),
    (100, 0.001, 0.05),
    (100, 0.01, 0.05),
];

/// Simulates a row of false alarms.
pub fn false_alarms(scenario: Scenario, rollouts: u64) -> FalseAlarms {
    FalseAlarms { scenario, alarms: simulate(scenario, Method::ALL, rollouts, TWO_HOURS) }
}

/// Simulates a row of delays.
pub fn delays((requests_per_second, stable_rate, canary_rate): (u32, f64, f64), rollouts: u64) -> Delays {
    let at =
        |weight, clustering| Scenario { requests_per_second, weight, canary_rate, stable_rate, clustering };
    let alarms = WEIGHTS.map(|weight| {
        [Clustering::Independent, Clustering::FewUsers].map(|clustering| {
            let [alarms] = simulate(at(weight, clustering), [Method::Rollback], rollouts, HALF_HOUR);
            alarms
        })
    });
    let [first, ..] = WEIGHTS;
    Delays { scenario: at(first, Clustering::Independent), alarms }
}
