//! One rollout of a scenario, from its start to its end or to the horizon.

use crate::baseline::Observed;
use crate::clients::Clients;
use crate::counters::INTERVAL;
use crate::driver::{Driver, FinalState};
use crate::error::ModelError;
use crate::scenario::{Counting, Population, Scenario};
use crate::service::Service;

/// What became of a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutOutcome {
    /// How it ended.
    pub state: FinalState,
    /// After how many seconds; of one that is open, the horizon.
    pub seconds: u32,
    /// The number of observations at which it was held.
    pub held: u32,
    /// Clients of the canary that met a failed response, or none.
    pub met: u32,
    /// Why the last decision was made.
    pub reason: String,
}

/// Simulates one rollout. The same seed gives the same outcome.
///
/// # Errors
///
/// If the scenario is none that the product takes.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<RolloutOutcome, ModelError> {
    let mut driver = Driver::new(scenario)?;
    let mut service = Service::new(scenario, seed);
    let mut clients = Clients::new(scenario, &mut service);
    for second in 0..scenario.horizon {
        if second % INTERVAL == 0 {
            service.counters.end_interval();
            if let Some(result) = driver.reconcile(&observed(&service), second) {
                return Ok(outcome(result, second, driver, &service));
            }
            follow(&driver, &mut service);
        }
        service.begin_second(second);
        clients.second(second, &mut service);
    }
    Ok(outcome(FinalState::Open, scenario.horizon, driver, &service))
}

fn outcome(result: FinalState, seconds: u32, driver: Driver, service: &Service<'_>) -> RolloutOutcome {
    RolloutOutcome { state: result, seconds, held: driver.held, met: service.met, reason: driver.reason }
}

/// The proxies take what the driver has written.
fn follow(driver: &Driver, service: &mut Service<'_>) {
    service.weight = driver.weight();
    service.step_since = driver.step_since();
    service.counted_since = match (service.scenario.population, service.scenario.counting) {
        (Population::Users { .. }, _) | (_, Counting::WholeRollout) => 0,
        (_, Counting::AsRecorded) => driver.recorded_since(),
    };
}

fn observed(service: &Service<'_>) -> Observed {
    let counters = [0, 1].map(|proxy| [service.counters.of(proxy, true), service.counters.of(proxy, false)]);
    let pods = [true, false].map(|is_canary| service.behaviour(is_canary).pod_count());
    Observed { counters, ended_pods: service.ended_pods(), pods }
}
