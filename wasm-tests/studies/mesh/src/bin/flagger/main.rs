//! `./x bench-flagger`: the same canaries, faults and users for Flagger and for `canary-ctl rollout`. Writes a page.
//!
//! ```text
//! settings    what both are given
//! schedule    which rollouts are left to do                          Outcome… -> Job…
//! rollout     one rollout by each tool                               Job -> Outcome
//!   controller  Flagger and its Prometheus
//!   objects     what Flagger is given
//! outcome     what came of a rollout
//! page        the tables                                             Outcome… -> text
//! ```

mod controller;
mod objects;
mod outcome;
mod page;
mod rollout;
mod schedule;
mod settings;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use controller::Controller;
use futures_util::future::join;
use futures_util::stream::{self, StreamExt as _};
use mesh_lab::{Lab, Options};
use mesh_studies::Error;
use outcome::Outcome;
use programs::artifact;
use rollout::Job;

/// Where the figures go.
const PAGE: &str = "docs/flagger-side-by-side.md";
/// What is kept between two calls: a line for each rollout.
const OUTCOMES: &str = "target/flagger-side-by-side.jsonl";

/// Rolls out the same canaries by Flagger and by canary-ctl, at the same time, and writes a page.
#[derive(Parser)]
struct Arguments {
    /// Rollouts of each canary that has to be promoted, by each tool.
    #[arg(long, default_value_t = 5)]
    good: u32,
    /// Rollouts of each canary that has to be rolled back, by each tool.
    #[arg(long, default_value_t = 3)]
    broken: u32,
    /// Pairs of rollouts at the same time.
    #[arg(long, default_value_t = 2)]
    parallel: usize,
    /// Do what is left of the last call.
    #[arg(long)]
    resume: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            say(&format!("{failures} rollouts without an outcome; --resume tries them again"));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

/// The number of rollouts without an outcome.
fn run(arguments: &Arguments) -> Result<usize, Error> {
    let outcomes = if arguments.resume { read()? } else { Vec::new() };
    write(&outcomes)?;
    let jobs = schedule::left([arguments.good, arguments.broken], &outcomes);
    say(&format!("{} pairs of rollouts, {} at a time", jobs.len(), arguments.parallel));
    if jobs.is_empty() {
        return Ok(0);
    }
    let lab = Lab::start(Options::default())?;
    lab.run(async |lab| study(lab, &jobs, arguments.parallel, outcomes).await)
}

async fn study(lab: &Lab, jobs: &[Job], parallel: usize, mut all: Vec<Outcome>) -> Result<usize, Error> {
    let controller = Controller::start(lab).await?;
    let mut failures = 0;
    let pairs = stream::iter(jobs.iter().copied().enumerate());
    let mut pairs = pairs.map(|(number, job)| pair(lab, &controller, number, job)).buffer_unordered(parallel);
    while let Some(pair) = pairs.next().await {
        for outcome in pair {
            match outcome {
                Ok(outcome) => {
                    say(&serde_json::to_string(&outcome)?);
                    all.retain(|other| !other.is_same_rollout(&outcome)); // of a pair of which one had none
                    all.push(outcome);
                }
                Err(error) => {
                    failures += 1;
                    say(&format!("no outcome: {error}"));
                }
            }
        }
        write(&all)?;
    }
    Ok(failures)
}

/// The same rollout by both, at the same time: what disturbs one disturbs the other.
async fn pair(lab: &Lab, controller: &Controller, number: usize, job: Job) -> [Result<Outcome, Error>; 2] {
    let names = ["ctl", "flagger"].map(|tool| format!("{tool}-{number}"));
    let [ours, flaggers] = &names;
    let both =
        join(rollout::by_canary_ctl(lab, ours, job), rollout::by_flagger(lab, controller, flaggers, job));
    both.await.into()
}

fn read() -> Result<Vec<Outcome>, Error> {
    let text = std::fs::read_to_string(outcomes())?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// The outcomes so far, and the page of them.
fn write(all: &[Outcome]) -> Result<(), Error> {
    let mut file = std::fs::File::create(outcomes())?;
    for outcome in all {
        writeln!(file, "{}", serde_json::to_string(outcome)?)?;
    }
    if !all.is_empty() {
        std::fs::write(artifact::root().join(PAGE), page::page(all, &version()?))?;
    }
    Ok(())
}

fn outcomes() -> PathBuf {
    artifact::root().join(OUTCOMES)
}

/// Flagger's version, as it is built.
fn version() -> Result<String, Error> {
    let module = std::fs::read_to_string(artifact::root().join("wasm-tests/lab/go/flagger/go.mod"))?;
    let line = module.lines().find_map(|line| line.trim().strip_prefix("github.com/fluxcd/flagger v"));
    Ok(line.and_then(|line| line.split(' ').next()).unwrap_or("?").to_owned())
}

#[expect(clippy::print_stderr, reason = "long work shows how far it is")]
fn say(text: &str) {
    eprintln!("{text}");
}
