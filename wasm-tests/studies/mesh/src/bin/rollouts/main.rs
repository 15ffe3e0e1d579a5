//! `./x bench-rollouts`: rollouts of good canaries and of broken ones in a real mesh under load, and what users met. Writes a page.
//!
//! ```text
//! scenarios  the rollouts of this study
//! study      one rollout from start to end                                   Scenario -> Run
//! clients    clients besides the shoppers, and what happens to the canary's pods
//! runs       all runs, kept from one call to the next
//! page       the table
//! ```

mod clients;
mod page;
mod runs;
mod scenarios;
mod study;

use std::process::ExitCode;

use clap::Parser;
use mesh_lab::{Lab, Options};
use mesh_studies::Error;
use programs::artifact;
use runs::Runs;
use scenarios::SCENARIOS;

/// Where the figures go.
const PAGE: &str = "docs/rollouts-under-load.md";

/// Roll good canaries and broken ones out in a real mesh under load, and write docs/rollouts-under-load.md
#[derive(Debug, Parser)]
struct Arguments {
    /// Runs of each row
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Keep the runs so far, and add to them
    #[arg(long)]
    keep: bool,
    /// Run the rows whose names contain this (may be repeated); the others keep their runs
    #[arg(long, value_name = "TEXT")]
    row: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Whether all rollouts ended as they have to.
fn run(arguments: &Arguments) -> Result<bool, Error> {
    let mut runs = Runs::read()?;
    let lab = Lab::start(Options::default())?;
    let all_as_expected = lab.run(async |lab: &Lab| all(lab, arguments, &mut runs).await)?;
    Ok(all_as_expected)
}

/// Each run of each row, a row after the other in each round, so that an interrupted study has some of all.
async fn all(lab: &Lab, arguments: &Arguments, runs: &mut Runs) -> Result<bool, Error> {
    let is_wanted =
        |name: &str| arguments.row.is_empty() || arguments.row.iter().any(|text| name.contains(text));
    let mut all_as_expected = true;
    for round in 1..=arguments.runs {
        for (number, scenario) in (1..).zip(&SCENARIOS).filter(|(_, scenario)| is_wanted(scenario.name)) {
            say(&format!("round {round}, {number} of {}: {}", SCENARIOS.len(), scenario.name));
            if round == 1 && !arguments.keep {
                runs.forget(scenario);
            }
            let run = study::run(lab, &format!("study-{round}-{number}"), scenario).await?;
            say(&format!("{} after {} s: {}", run.result, run.seconds, run.reason));
            all_as_expected &= run.result == scenario.expected;
            runs.keep(run)?;
            std::fs::write(artifact::root().join(PAGE), page::page(&SCENARIOS, runs))?;
        }
    }
    Ok(all_as_expected)
}

#[expect(clippy::print_stderr, reason = "long work shows how far it is")]
fn say(text: &str) {
    eprintln!("{text}");
}
