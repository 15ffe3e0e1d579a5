//! How long `canary-ctl weight N --wait` takes with real gateways.

use std::path::Path;
use std::time::{Duration, Instant};

use mesh_lab::Lab;
use programs::artifact;
use tokio::process::Command;
use wasm_tests::mesh::ShopEnv;

use crate::{Error, say};

/// How many gateways there are.
const GATEWAYS: [usize; 2] = [1, 20];
/// Weights that are set for each number of gateways.
pub(crate) const CHANGES: usize = 21;

/// The times from Enter to active, ascending, for each number of gateways.
pub(crate) async fn measured(lab: &Lab, env: &ShopEnv) -> Result<Vec<(usize, Vec<Duration>)>, Error> {
    let folder = tempfile::tempdir()?;
    let release = env.release()?.with("/spec/weight", "0").with("/spec/maxStep", "100");
    std::fs::write(folder.path().join("canary.yaml"), release.text())?;
    canary_ctl(lab, folder.path(), "apply --wait").await?;
    let mut rows = Vec::new();
    for gateways in GATEWAYS {
        say(&format!("{gateways} gateways"));
        scale(lab, env, gateways).await?;
        // Waits for the gateways that have just started.
        canary_ctl(lab, folder.path(), "weight 1 --wait --timeout 5m").await?;
        let mut took = Vec::new();
        for change in 0..CHANGES {
            let begun = Instant::now();
            canary_ctl(lab, folder.path(), &format!("weight {} --wait", 20 + change % 2)).await?;
            took.push(begun.elapsed());
        }
        took.sort();
        rows.push((gateways, took));
    }
    scale(lab, env, 0).await?;
    canary_ctl(lab, folder.path(), "uninstall --skip-check moves-users").await?;
    Ok(rows)
}

async fn scale(lab: &Lab, env: &ShopEnv, gateways: usize) -> Result<(), Error> {
    lab.scale(&env.ingress, "gateway", gateways).await?;
    Ok(lab.rolled_out(&env.ingress, "gateway").await?)
}

async fn canary_ctl(lab: &Lab, folder: &Path, line: &str) -> Result<(), Error> {
    let mut command = Command::new(artifact::canary_ctl()?);
    command.args(line.split(' ')).current_dir(folder).env("KUBECONFIG", lab.kubeconfig("admin")?);
    let output = command.output().await?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(Error::Failed { line: line.to_owned(), said }) }
}
