//! The runs of the scenarios, kept in a file from one call to the next.

use std::path::PathBuf;

use mesh_studies::{Error, Scenario};
use programs::artifact;
use serde::{Deserialize, Serialize};

/// What came of a rollout.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The name of the scenario.
    pub(crate) scenario: String,
    /// The day, as `2026-11-28`.
    pub(crate) measured: String,
    /// `promoted`, `rolledBack`.
    pub(crate) result: String,
    /// Why, in the words of the record.
    pub(crate) reason: String,
    /// From `rollout start` to the end.
    pub(crate) seconds: u64,
    pub(crate) users: usize,
    pub(crate) requests: usize,
    /// Users with a response that was not 200, or without one.
    pub(crate) failed_users: usize,
    /// Sessions that the rollback moved.
    pub(crate) announced_moves: usize,
    /// Sessions that moved to the canary, or away from it in a rollout that was not rolled back.
    pub(crate) other_moves: usize,
    /// Users whose cart was lost though their session was not moved.
    pub(crate) lost_in_place: usize,
}

/// All kept runs.
#[derive(Debug)]
pub(crate) struct Runs {
    path: PathBuf,
    runs: Vec<Run>,
}

impl Runs {
    /// Reads the file.
    pub(crate) fn read() -> Result<Self, Error> {
        let path = artifact::root().join("wasm-tests/studies/mesh/rollouts.json");
        let runs = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        Ok(Self { path, runs })
    }

    /// Forgets the runs of a scenario.
    pub(crate) fn forget(&mut self, scenario: &Scenario) {
        self.runs.retain(|run| run.scenario != scenario.name);
    }

    /// Keeps a run, and writes the file: a study that is interrupted loses one run.
    pub(crate) fn keep(&mut self, run: Run) -> Result<(), Error> {
        self.runs.push(run);
        std::fs::write(&self.path, serde_json::to_string_pretty(&self.runs)? + "\n")?;
        Ok(())
    }

    /// The runs of a scenario, the first one first.
    pub(crate) fn of(&self, scenario: &Scenario) -> Vec<&Run> {
        self.runs.iter().filter(|run| run.scenario == scenario.name).collect()
    }
}
