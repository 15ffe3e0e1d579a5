//! `./x bench-rollouts`: rollouts of good canaries and of broken ones in a real mesh under load, and what users met. Writes a page.
//!
//! ```text
//! scenario   what is wrong with a version, and how its rollout has to end
//! study      one rollout from start to end                                   Scenario -> Row
//! clients    clients besides the shoppers: one that fails, sessions from before
//! page       the table
//! ```

mod clients;
mod page;
mod scenario;
mod study;

use std::process::ExitCode;

use mesh_lab::{Lab, LabError, Options};
use programs::artifact;
use tokio::task::JoinError;

/// Where the figures go.
const PAGE: &str = "docs/rollouts-under-load.md";

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error("expected a built program: {0}")]
    Missing(#[from] artifact::MissingArtifact),
    #[error("`canary-ctl {line}` failed: {said}")]
    Failed { line: String, said: String },
    #[error("a client has panicked: {0}")]
    Client(#[from] JoinError),
    #[error("expected the JSON of `rollout run`: {0}")]
    Json(#[from] serde_json::Error),
    #[error("cannot use a file or a process: {0}")]
    System(#[from] std::io::Error),
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Whether all rollouts ended as they have to.
fn run() -> Result<bool, Error> {
    let lab = Lab::start(Options::default())?;
    let rows = lab.run(study::rows)?;
    let page = page::page(&rows);
    say(&page);
    std::fs::write(artifact::root().join(PAGE), page)?;
    Ok(rows.iter().all(study::Row::is_as_expected))
}

#[expect(clippy::print_stderr, reason = "long work shows how far it is")]
fn say(text: &str) {
    eprintln!("{text}");
}
