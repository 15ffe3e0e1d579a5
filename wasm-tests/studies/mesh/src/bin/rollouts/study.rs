//! One rollout from start to end under load, in an environment of its own.

use crate::scenarios::SCENARIOS;
use crate::{clients, say};
use mesh_lab::Lab;
use mesh_studies::{Addition, Error, RolloutEnd, RolloutPlan, Scenario, ShopRelease};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use wasm_tests::mesh::{ShopperReport, Shoppers};

/// The plan of each rollout; minutes are seconds.
pub(crate) const PLAN: RolloutPlan =
    RolloutPlan { weights: [10, 25, 50], hold: "6s", deadline: "90s", slower_than: Some("400ms") };
const INTERVAL: &str = "2s";

/// What came of a scenario.
pub(crate) struct Row {
    pub(crate) scenario: &'static Scenario,
    /// The result, and why.
    pub(crate) end: RolloutEnd,
    /// From `rollout start` to the end.
    pub(crate) took: Duration,
    pub(crate) users: ShopperReport,
}

impl Row {
    pub(crate) fn is_as_expected(&self) -> bool {
        self.end.result == self.scenario.expected
    }

    /// Sessions that moved to the canary, or away from it in a rollout that was not rolled back.
    pub(crate) fn unannounced_moves(&self) -> usize {
        let is_announced = |to: Option<&str>| self.end.result == "rolledBack" && to == Some("v1");
        self.users.flips.iter().filter(|flip| !is_announced(flip.to.version.as_deref())).count()
    }
}

/// All scenarios, one after the other.
pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for (number, scenario) in (1..).zip(&SCENARIOS) {
        say(&format!("{number} of {}: {}", SCENARIOS.len(), scenario.name));
        let row = row(lab, &format!("study-{number}"), scenario).await?;
        say(&format!("{} after {:.0?}: {}", row.end.result, row.took, row.end.reason));
        rows.push(row);
    }
    Ok(rows)
}

async fn row(lab: &Lab, name: &str, scenario: &'static Scenario) -> Result<Row, Error> {
    let shop = ShopRelease::set_up(lab, name, scenario, &PLAN).await?;
    let older = match scenario.addition {
        Addition::OlderSessions => clients::older_sessions(shop.env.gateway).await,
        _ => JoinSet::new(),
    };
    let shoppers = Shoppers::start_apart(shop.env.gateway);
    let begun = Instant::now();
    shop.start(lab).await?;
    let end = driven(lab, &shop, scenario.addition).await?;
    let took = begun.elapsed();
    drop(older);
    let users = shoppers.stop().await?;
    shop.delete(lab).await?;
    Ok(Row { scenario, end, took, users })
}

/// `rollout run` to its end, while what the scenario adds happens.
async fn driven(lab: &Lab, shop: &ShopRelease, addition: Addition) -> Result<RolloutEnd, Error> {
    let run = shop.run(lab, INTERVAL);
    match addition {
        Addition::Crashes => tokio::select! {
            end = run => end,
            error = clients::crashes(lab, &shop.env.namespace) => Err(error.into()),
        },
        Addition::RetryLoop | Addition::RetryLoopOnStable => {
            let version = if addition == Addition::RetryLoop { "v2" } else { "v1" };
            let _client = clients::retry_loop(shop.env.gateway, version);
            run.await
        }
        Addition::None | Addition::OlderSessions => run.await,
    }
}
