//! The shop behind a gateway of its own and a release of it, rolled out by `canary-ctl`.

use std::path::Path;
use std::process::Output;

use mesh_lab::{Lab, LabError};
use programs::artifact;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::task::JoinError;

use super::scenario::Scenario;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

/// Why a rollout has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The lab failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A program has not been built.
    #[error("expected a built program: {0}")]
    Missing(#[from] artifact::MissingArtifact),
    /// A command that prepares a rollout failed.
    #[error("`canary-ctl {line}` failed: {said}")]
    Failed {
        /// Its arguments.
        line: String,
        /// Its standard error.
        said: String,
    },
    /// A simulated client panicked.
    #[error("a client has panicked: {0}")]
    Client(#[from] JoinError),
    /// The result cannot be read.
    #[error("expected JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A file or a process failed.
    #[error("cannot use a file or a process: {0}")]
    System(#[from] std::io::Error),
}

/// The plan of a rollout, as `canary.yaml` has it.
#[derive(Clone, Copy, Debug)]
pub struct RolloutPlan {
    /// The weights in percent.
    pub weights: [u32; 3],
    /// The least time at each.
    pub hold: &'static str,
    /// The most time of all.
    pub deadline: &'static str,
    /// The time from which on a response is slow.
    pub slower_than: Option<&'static str>,
}

impl RolloutPlan {
    /// `spec.rollout`.
    pub fn spec(&self) -> Value {
        let steps = self.weights.map(|weight| json!({"weight": weight, "hold": self.hold}));
        let (deadline, plans) = (self.deadline, json!({"default": steps}));
        match self.slower_than {
            Some(slower_than) => json!({"plans": plans, "deadline": deadline, "slowerThan": slower_than}),
            None => json!({"plans": plans, "deadline": deadline}),
        }
    }
}

#[derive(Clone, Debug)]
pub struct RolloutEnd {
    /// `promoted`, `rolledBack`.
    pub result: String,
    /// Why, in the words of the record.
    pub reason: String,
}

/// The shop and its release; all users are on v1.
#[derive(Debug)]
pub struct ShopRelease {
    /// Where they are.
    pub env: ShopEnv,
    folder: TempDir,
}

impl ShopRelease {
    /// Sets up the shop with what is wrong with its versions in the namespaces `<name>` and `<name>-ingress`, and applies the release.
    ///
    /// # Errors
    ///
    /// If the lab or `canary-ctl` fails.
    pub async fn set_up(
        lab: &Lab,
        name: &str,
        scenario: &Scenario,
        plan: &RolloutPlan,
    ) -> Result<Self, Error> {
        let env = ShopEnv::set_up(lab, name, &ShopEnvOptions::gateway()).await?;
        let release = env
            .release()?
            .with("/spec/weight", "0")
            .with("/spec/sessionAffinity", "identity")
            .with("/spec/rollout", plan.spec());
        let release = if scenario.has_moving_users {
            release.with("/spec/stickiness", "user").with("/spec/rollout/lostSessions", true)
        } else {
            release
        };
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("canary.yaml"), release.text())?;
        for (version, variables) in ["v1", "v2"].into_iter().zip(scenario.variables) {
            let deployment = format!("shop-{version}");
            if !variables.is_empty() {
                lab.kubectl(&[&["set", "env", "-n", name, "deployment", &deployment], variables].concat())
                    .await?;
                lab.rolled_out(name, &deployment).await?;
            }
        }
        let shop = Self { env, folder };
        shop.succeeded(lab, "apply --wait").await?;
        Ok(shop)
    }

    /// `rollout start`.
    ///
    /// # Errors
    ///
    /// If it fails.
    pub async fn start(&self, lab: &Lab) -> Result<(), Error> {
        self.succeeded(lab, "rollout start").await
    }

    /// `rollout run` to the end, with an observation in this interval.
    ///
    /// # Errors
    ///
    /// If it prints no result.
    pub async fn run(&self, lab: &Lab, interval: &str) -> Result<RolloutEnd, Error> {
        let line = format!("rollout run --interval {interval} -o json");
        let output = canary_ctl(lab, self.folder.path(), &line).await?;
        let view: Value = serde_json::from_slice(&output.stdout)?;
        let text = |pointer| view.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(RolloutEnd { result: text("/rollout/ended/result"), reason: text("/rollout/ended/reason") })
    }

    /// Deletes all of it without waiting, so that nothing of it takes processor time from the next one.
    ///
    /// # Errors
    ///
    /// If the API server refuses.
    pub async fn delete(self, lab: &Lab) -> Result<(), Error> {
        self.env.delete(lab).await?;
        Ok(())
    }

    async fn succeeded(&self, lab: &Lab, line: &str) -> Result<(), Error> {
        let output = canary_ctl(lab, self.folder.path(), line).await?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(Error::Failed { line: line.to_owned(), said }) }
    }
}

async fn canary_ctl(lab: &Lab, folder: &Path, line: &str) -> Result<Output, Error> {
    let mut command = Command::new(artifact::canary_ctl()?);
    command.args(line.split(' ')).current_dir(folder).env("KUBECONFIG", lab.kubeconfig("admin")?);
    Ok(command.kill_on_drop(true).output().await?)
}
