//! One rollout from start to end under load, in an environment of its own.

use crate::scenario::{Addition, SCENARIOS, Scenario};
use crate::{Error, clients, say};
use mesh_lab::Lab;
use programs::artifact;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::task::JoinSet;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions, ShopperReport, Shoppers};

/// The plan of each rollout; minutes are seconds.
pub(crate) const WEIGHTS: [u32; 3] = [10, 25, 50];
pub(crate) const HOLD: &str = "6s";
const DEADLINE: &str = "90s";

/// What came of a scenario.
pub(crate) struct Row {
    pub(crate) scenario: &'static Scenario,
    /// The result, and why.
    pub(crate) result: String,
    pub(crate) reason: String,
    /// From `rollout start` to the end.
    pub(crate) took: Duration,
    pub(crate) users: ShopperReport,
}

impl Row {
    pub(crate) fn is_as_expected(&self) -> bool {
        self.result == self.scenario.expected
    }

    /// Sessions that moved to the canary, or away from it in a rollout that was not rolled back.
    pub(crate) fn unannounced_moves(&self) -> usize {
        let is_announced = |to: Option<&str>| self.result == "rolledBack" && to == Some("v1");
        self.users.flips.iter().filter(|flip| !is_announced(flip.to.version.as_deref())).count()
    }
}

/// All scenarios, one after the other.
pub(crate) async fn rows(lab: &Lab) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for (number, scenario) in (1..).zip(&SCENARIOS) {
        say(&format!("{number} of {}: {}", SCENARIOS.len(), scenario.name));
        let row = row(lab, &format!("study-{number}"), scenario).await?;
        say(&format!("{} after {:.0?}: {}", row.result, row.took, row.reason));
        rows.push(row);
    }
    Ok(rows)
}

async fn row(lab: &Lab, name: &str, scenario: &'static Scenario) -> Result<Row, Error> {
    let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway()).await?;
    let step = |weight: &u32| json!({"weight": weight, "hold": HOLD});
    let plan: Vec<Value> = WEIGHTS.iter().map(step).collect();
    let release = env
        .release()?
        .with("/spec/weight", "0")
        .with("/spec/sessionAffinity", "identity")
        .with("/spec/rollout", json!({"plans": {"default": plan}, "deadline": DEADLINE}));
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("canary.yaml"), release.text())?;
    for (version, variables) in ["v1", "v2"].into_iter().zip(scenario.variables) {
        let deployment = format!("deployment/shop-{version}");
        if !variables.is_empty() {
            lab.kubectl(&[&["set", "env", "-n", name, &deployment], variables].concat()).await?;
            lab.rolled_out(name, &deployment).await?;
        }
    }
    succeeded(lab, &folder, "apply --wait").await?;
    let older = match scenario.addition {
        Addition::OlderSessions => clients::older_sessions(env.gateway).await,
        _ => JoinSet::new(),
    };
    let shoppers = Shoppers::start_apart(env.gateway);
    let begun = Instant::now();
    succeeded(lab, &folder, "rollout start").await?;
    let output = driven(lab, &env, &folder, scenario.addition).await?;
    let took = begun.elapsed();
    drop(older);
    let users = shoppers.stop().await?;
    let view: Value = serde_json::from_slice(&output.stdout)?;
    let text = |pointer: &str| view.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (result, reason) = (text("/rollout/ended/result"), text("/rollout/ended/reason"));
    // Nothing of it takes processor time from the next one.
    lab.kubectl(&["delete", "namespace", name, &env.ingress, "--wait=false"]).await?;
    Ok(Row { scenario, result, reason, took, users })
}

/// `rollout run` to its end, while what the scenario adds happens.
async fn driven(lab: &Lab, env: &ShopEnv, folder: &TempDir, addition: Addition) -> Result<Output, Error> {
    let run = canary_ctl(lab, folder.path(), "rollout run --interval 2s -o json");
    match addition {
        Addition::Crashes => tokio::select! {
            output = run => output,
            error = clients::crashes(lab, &env.namespace) => Err(error.into()),
        },
        Addition::RetryLoop => {
            let _client = clients::retry_loop(env.gateway);
            run.await
        }
        Addition::None | Addition::OlderSessions => run.await,
    }
}

async fn canary_ctl(lab: &Lab, folder: &Path, line: &str) -> Result<Output, Error> {
    let mut command = Command::new(artifact::canary_ctl()?);
    command.args(line.split(' ')).current_dir(folder).env("KUBECONFIG", lab.kubeconfig("admin")?);
    Ok(command.kill_on_drop(true).output().await?)
}

async fn succeeded(lab: &Lab, folder: &TempDir, line: &str) -> Result<(), Error> {
    let output = canary_ctl(lab, folder.path(), line).await?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(Error::Failed { line: line.to_owned(), said }) }
}
