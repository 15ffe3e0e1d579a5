//! From `weight` to active: all that `canary-ctl weight --wait` does, without the start of its process.

use crate::bed::Backend;
use crate::config::{HOST, RELEASE, document, local};
use crate::error::{BenchError, file};
use crate::say;
use crate::summary::Summary;
use assignment::Weight;
use canary_ctl::local::{Environment, Lock, wait_for_generation};
use canary_release::file;
use canary_release::record::Operation;
use envoy_kit::{self as envoy, Envoy, Options, free_ports};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// Weights that are set.
const CHANGES: u32 = 21;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Milliseconds from the call until every worker ran the new weight, on an Envoy without traffic.
pub(crate) async fn measure(module: &Path, backend: &Backend) -> Result<Summary, BenchError> {
    say("weights");
    let directory = tempfile::tempdir().map_err(file(&std::env::temp_dir()))?;
    let [admin, listen] = free_ports().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let local = local(directory.path(), listen, admin, backend.address());
    let text = document("session", HOST, &local, module).to_string();
    let release = file::parse(&directory.path().join("canary.yaml"), &text)?.release;
    let environment = Environment::generate(&release).await?;
    let options = Options { log_level: "error", ..Options::default() };
    let path = environment.layout().bootstrap();
    let _envoy = Envoy::start(&envoy::newest()?, &path, admin, &options).await?;
    let mut took = Vec::new();
    for change in 0..CHANGES {
        let begun = Instant::now();
        set_weight(&environment, 2_000 + 100 * (change % 2 + 1)).await?;
        took.push(begun.elapsed().as_secs_f64() * 1_000.0);
    }
    Summary::of(took).ok_or(BenchError::NoFigures("weights"))
}

async fn set_weight(environment: &Environment, basis_points: u32) -> Result<(), BenchError> {
    let lock = Lock::take(environment.layout()).await?;
    let mut state = environment.state()?;
    let mut generation = 0;
    if let Some(entry) = state.releases.get_mut(RELEASE) {
        entry.set_weight(Weight::new(basis_points).unwrap_or_default(), None, Operation::Weight);
        generation = entry.state.generation;
    }
    let plan = environment.plan_of(state)?;
    let applied = environment.apply(&lock, &plan).await?;
    wait_for_generation(&environment.admin(), RELEASE, generation, applied.refusals, TIMEOUT).await?;
    Ok(())
}
