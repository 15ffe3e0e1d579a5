//! What both tools are given: one plan, and users at one pace.

use std::time::Duration;

use mesh_studies::{RolloutPlan, Scenario};
use wasm_tests::mesh::Pace;

/// The steps of both; Flagger stays one interval at each.
pub(crate) const PLAN: RolloutPlan =
    RolloutPlan { weights: [10, 25, 50], hold: INTERVAL, deadline: "5m", slower_than: None };
/// Between two looks of either tool: the least that Flagger takes.
pub(crate) const INTERVAL: &str = "10s";
/// Flagger's failed checks until the rollback, as in its tutorial for Istio.
pub(crate) const THRESHOLD: u32 = 5;
/// Flagger's least success rate and the time that it is computed over, as in the same tutorial.
pub(crate) const MIN_SUCCESS_RATE: u32 = 99;
pub(crate) const METRIC_INTERVAL: &str = "1m";
/// Where the canary hangs, the time after which Flagger's route gives up: without one its metric counts nothing that hangs.
pub(crate) const HANG_TIMEOUT: &str = "5s";

/// Pages fail by chance, as they do elsewhere, and not evenly spread.
pub(crate) const RANDOM_FAULTS: &str = "SHOP_RANDOM_FAULTS=true";

pub(crate) const PACE: Pace = Pace { users: 100, rounds: 40, pause: Duration::from_millis(500) };
/// Those who were there before the rollout and stay.
pub(crate) const OLDER: Pace = Pace { users: 40, rounds: u32::MAX, ..PACE };
/// Users come so long before a rollout, and stay so long after it.
pub(crate) const BEFORE: Duration = Duration::from_secs(5);
pub(crate) const AFTER: Duration = Duration::from_secs(3);

/// Those that have to be promoted, then those that have to be rolled back.
pub(crate) const SCENARIOS: [Scenario; 7] = [
    Scenario::GOOD,
    Scenario::BOTH_FAIL_1,
    Scenario::BOTH_FAIL_5,
    Scenario::AGE_BIAS,
    Scenario::FAILS_5,
    Scenario::FAILS_50,
    Scenario::HANGS,
];
