//! `./x bench-arrival`: how long `canary-ctl weight N --wait` takes from Enter until every gateway does it, in a real mesh.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mesh_lab::{Lab, LabError, Options};
use programs::artifact;
use tokio::process::Command;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

/// How many gateways there are.
const GATEWAYS: [usize; 2] = [1, 20];
/// Weights that are set for each number of gateways.
const CHANGES: usize = 21;
/// Where the figures go.
const PAGE: &str = "docs/arrival.md";

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error("expected a built program: {0}")]
    Missing(#[from] artifact::MissingArtifact),
    #[error("`canary-ctl {line}` failed: {said}")]
    Failed { line: String, said: String },
    #[error("cannot use a file or a process")]
    System(#[from] std::io::Error),
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Error> {
    let lab = Lab::start(Options::default())?;
    let rows = lab.run(measured)?;
    let page = page(&rows);
    say(&page);
    Ok(std::fs::write(artifact::root().join(PAGE), page)?)
}

/// Milliseconds from Enter to active, ascending, for each number of gateways.
async fn measured(lab: &Lab) -> Result<Vec<(usize, Vec<Duration>)>, Error> {
    let env = ShopEnv::set_up(lab, "bench", &ShopEnvOptions::gateway()).await?;
    let folder = tempfile::tempdir()?;
    let release = env.release()?.with("/spec/weight", "0").with("/spec/maxStep", "100");
    std::fs::write(folder.path().join("canary.yaml"), release.text())?;
    canary_ctl(lab, folder.path(), "apply --wait").await?;
    let mut rows = Vec::new();
    for gateways in GATEWAYS {
        say(&format!("{gateways} gateways"));
        let replicas = format!("--replicas={gateways}");
        lab.kubectl(&["scale", "-n", &env.ingress, "deployment/gateway", &replicas]).await?;
        lab.rolled_out(&env.ingress, "deployment/gateway").await?;
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
    Ok(rows)
}

async fn canary_ctl(lab: &Lab, folder: &Path, line: &str) -> Result<(), Error> {
    let mut command = Command::new(artifact::canary_ctl()?);
    command.args(line.split(' ')).current_dir(folder).env("KUBECONFIG", lab.kubeconfig("admin")?);
    let output = command.output().await?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(Error::Failed { line: line.to_owned(), said }) }
}

fn page(rows: &[(usize, Vec<Duration>)]) -> String {
    let mut page = format!(
        "# From `weight` to active\n\n<!-- Written by `./x bench-arrival`; do not edit. -->\n\n\
         `canary-ctl weight N --wait` in a real mesh, from Enter until every gateway runs it and the program has ended: {CHANGES} \
         changes each, no traffic. API server, istiod, gateways (Envoy 1.40 with its agent) and `canary-ctl` share one machine; each gateway is \
         asked through the API server.\n\n\
         | gateways | median | fastest | slowest |\n| ---: | ---: | ---: | ---: |\n"
    );
    let lines = rows.iter().map(|(gateways, took)| {
        let at = |place: usize| took.get(place).copied().unwrap_or_default().as_secs_f64();
        let last = took.len().saturating_sub(1);
        format!("| {gateways} | {:.2} s | {:.2} s | {:.2} s |\n", at(last / 2), at(0), at(last))
    });
    page.extend(lines);
    page
}

#[expect(clippy::print_stderr, reason = "long work shows how far it is")]
fn say(text: &str) {
    eprintln!("{text}");
}
