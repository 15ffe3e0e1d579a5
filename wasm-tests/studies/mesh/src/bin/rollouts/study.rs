//! One rollout from start to end under load, in an environment of its own.

use crate::clients;
use crate::runs::Run;
use mesh_lab::Lab;
use mesh_studies::{Addition, Error, RolloutEnd, RolloutPlan, Scenario, ShopRelease};
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::task::{JoinError, JoinSet};
use wasm_tests::mesh::{Pace, PacedShoppers, ShopperReport, Shoppers};

/// The plan of each rollout; minutes are seconds.
pub(crate) const PLAN: RolloutPlan =
    RolloutPlan { weights: [10, 25, 50], hold: "6s", deadline: "90s", slower_than: Some("400ms") };
const INTERVAL: &str = "2s";
/// Users who take their time: each stays for about five seconds.
const PACE: Pace = Pace { users: 200, rounds: 12, pause: Duration::from_millis(400) };

/// Those who come during a rollout.
enum Users {
    Quick(Shoppers),
    Paced(PacedShoppers),
}

impl Users {
    fn start(gateway: SocketAddr, addition: Addition) -> Self {
        match addition {
            Addition::Restarts | Addition::Regulars | Addition::ReturningUsers => {
                Self::Paced(PacedShoppers::start(gateway, PACE))
            }
            _ => Self::Quick(Shoppers::start_apart(gateway)),
        }
    }

    async fn stop(self) -> Result<ShopperReport, JoinError> {
        match self {
            Self::Quick(users) => users.stop().await,
            Self::Paced(users) => Ok(users.stop().await?.met),
        }
    }
}

/// Rolls a scenario out in namespaces of this name.
pub(crate) async fn run(lab: &Lab, name: &str, scenario: &Scenario) -> Result<Run, Error> {
    let shop = ShopRelease::set_up(lab, name, scenario, &PLAN).await?;
    let clients = before(lab, &shop, scenario.addition).await?;
    let users = Users::start(shop.env.gateway, scenario.addition);
    let begun = Instant::now();
    shop.start(lab).await?;
    let end = driven(lab, &shop, scenario.addition).await?;
    let seconds = begun.elapsed().as_secs();
    drop(clients);
    let users = users.stop().await?;
    shop.delete(lab).await?;
    Ok(Run { measured: today()?, ..measured(scenario, &end, seconds, &users) })
}

fn measured(scenario: &Scenario, end: &RolloutEnd, seconds: u64, users: &ShopperReport) -> Run {
    let is_announced = |to: Option<&str>| end.result == "rolledBack" && to == Some("v1");
    let announced = users.flips.iter().filter(|flip| is_announced(flip.to.version.as_deref())).count();
    Run {
        scenario: scenario.name.to_owned(),
        measured: String::new(),
        result: end.result.clone(),
        reason: end.reason.clone(),
        seconds,
        users: users.users,
        requests: users.requests,
        failed_users: users.failed_users,
        announced_moves: announced,
        other_moves: users.flips.len() - announced,
        lost_in_place: users.lost_in_place,
    }
}

fn today() -> Result<String, Error> {
    let output = Command::new("date").args(["-u", "+%F"]).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What a scenario adds before its rollout begins, and its clients.
async fn before(lab: &Lab, shop: &ShopRelease, addition: Addition) -> Result<JoinSet<()>, Error> {
    let gateway = shop.env.gateway;
    Ok(match addition {
        Addition::OlderSessions => clients::older_sessions(gateway).await,
        Addition::ReturningUsers => clients::returning_users(gateway).await,
        Addition::RetryLoop => clients::retry_loop(gateway, "v2"),
        Addition::RetryLoopOnStable => clients::retry_loop(gateway, "v1"),
        Addition::LeavingClients => clients::leaving_clients(gateway),
        Addition::LongPolls => clients::long_polls(gateway),
        Addition::Logins => clients::logins(gateway),
        Addition::PausingPod => {
            clients::pausing_pod(lab, &shop.env.namespace).await?;
            JoinSet::new()
        }
        Addition::None | Addition::Crashes | Addition::Restarts | Addition::Regulars => JoinSet::new(),
    })
}

/// `rollout run` to its end, while what the scenario adds happens to the pods.
async fn driven(lab: &Lab, shop: &ShopRelease, addition: Addition) -> Result<RolloutEnd, Error> {
    let run = shop.run(lab, INTERVAL);
    let namespace = &shop.env.namespace;
    match addition {
        Addition::Crashes => tokio::select! {
            end = run => end,
            error = clients::crashes(lab, namespace) => Err(error.into()),
        },
        Addition::Restarts => tokio::select! {
            end = run => end,
            error = clients::restarts(lab, namespace) => Err(error.into()),
        },
        _ => run.await,
    }
}
