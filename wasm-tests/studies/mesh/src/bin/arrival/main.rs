//! `./x bench-arrival`: how long a weight takes to the proxies, and what it costs istiod, in a real mesh. Writes a page.
//!
//! ```text
//! gateways    `canary-ctl weight N --wait` with real gateways       -> times
//! deliveries  the module embedded or in a registry                  -> DeliveryCost…
//!   proxy     a simulated gateway
//!   xds       what it says to istiod
//!   istiod    processor time and memory
//! page        the tables                                            times, DeliveryCost… -> text
//! ```

mod deliveries;
mod gateways;
mod istiod;
mod page;
mod proxy;
mod xds;

use std::process::ExitCode;

use mesh_lab::{Lab, LabError, Options};
use programs::artifact;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

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
    #[error("expected an object with a configuration from `canary-ctl generate`, found none")]
    NoConfiguration,
    #[error("expected JSON in the configuration")]
    Json(#[from] serde_json::Error),
    #[error("cannot write the configuration")]
    Write(#[from] kube::Error),
    #[error("a simulated gateway cannot reach istiod: {0}")]
    Stream(#[from] tonic::Status),
    #[error("expected generation {generation} in {of} simulated gateways, found it in {found}")]
    Late { generation: u64, found: usize, of: usize },
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}: {error:?}"));
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Error> {
    let lab = Lab::start(Options::default())?;
    let page = lab.run(async |lab: &Lab| {
        let env = ShopEnv::set_up(lab, "bench", &ShopEnvOptions::gateway()).await?;
        let gateways = gateways::measured(lab, &env).await?;
        let deliveries = deliveries::measured(lab, &env).await?;
        Ok::<_, Error>(page::page(&gateways, &deliveries))
    })?;
    say(&page);
    Ok(std::fs::write(artifact::root().join(PAGE), page)?)
}

#[expect(clippy::print_stderr, reason = "long work shows how far it is")]
fn say(text: &str) {
    eprintln!("{text}");
}
