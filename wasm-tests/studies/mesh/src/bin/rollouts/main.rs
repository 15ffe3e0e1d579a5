//! `./x bench-rollouts`: rollouts of good canaries and of broken ones in a real mesh under load, and what users met. Writes a page.
//!
//! ```text
//! scenarios  the rollouts of this study
//! study      one rollout from start to end                                   Scenario -> Row
//! clients    clients besides the shoppers: one that fails, sessions from before
//! page       the table
//! ```

mod clients;
mod page;
mod scenarios;
mod study;

use std::process::ExitCode;

use mesh_lab::{Lab, Options};
use mesh_studies::Error;
use programs::artifact;

/// Where the figures go.
const PAGE: &str = "docs/rollouts-under-load.md";

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
