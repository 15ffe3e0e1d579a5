//! Many rollouts of a row, and what became of them.

use crate::driver::FinalState;
use crate::error::ModelError;
use crate::rows::Row;
use crate::simulation::{RolloutOutcome, simulate};
use std::collections::BTreeMap;
use std::fmt;
use std::thread;

/// What became of the rollouts of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Each of them.
    pub outcomes: Vec<RolloutOutcome>,
}

/// Simulates that many rollouts of a row, one after another.
///
/// # Errors
///
/// If the scenario is none that the product takes.
pub fn run(row: &Row, rollouts: u32) -> Result<Summary, ModelError> {
    run_part(row, rollouts, (0, 1))
}

/// The same on several threads; the same rollouts.
///
/// # Errors
///
/// If the scenario is none that the product takes.
pub fn run_on(row: &Row, rollouts: u32, threads: u32) -> Result<Summary, ModelError> {
    let threads = threads.max(1);
    let parts = thread::scope(|scope| {
        let start = |first| scope.spawn(move || run_part(row, rollouts, (first, threads)));
        let handles: Vec<_> = (0..threads).map(start).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Summary { outcomes: parts.into_iter().flat_map(|part| part.outcomes).collect() })
}

/// Each rollout of that many from the first one on.
fn run_part(row: &Row, rollouts: u32, (first, each): (u32, u32)) -> Result<Summary, ModelError> {
    let indexes = (first..rollouts).step_by(each as usize);
    let outcomes = indexes.map(|index| simulate(&row.scenario, seed(&row.id, index)));
    Ok(Summary { outcomes: outcomes.collect::<Result<_, _>>()? })
}

/// FNV-1a of the row's id, and the number of the rollout.
fn seed(id: &str, index: u32) -> u64 {
    let bytes = id.bytes().chain(index.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Summary {
    /// How many rollouts ended so.
    pub fn count(&self, result: FinalState) -> usize {
        self.of(result).count()
    }

    /// The same in percent of all.
    pub fn percent(&self, result: FinalState) -> f64 {
        100.0 * number(self.count(result)) / number(self.outcomes.len().max(1))
    }

    /// The rollouts that were held at any observation, in percent of all.
    pub fn percent_held(&self) -> f64 {
        let held = self.outcomes.iter().filter(|outcome| outcome.held > 0).count();
        100.0 * number(held) / number(self.outcomes.len().max(1))
    }

    /// The median of the seconds of those that ended so.
    pub fn median_seconds(&self, result: FinalState) -> Option<u32> {
        let mut seconds: Vec<u32> = self.of(result).map(|outcome| outcome.seconds).collect();
        seconds.sort_unstable();
        seconds.get(seconds.len() / 2).copied()
    }

    /// The mean of the clients who met a failure of the canary, over the rollouts that ended so.
    pub fn mean_met(&self, result: FinalState) -> Option<f64> {
        let all: Vec<f64> = self.of(result).map(|outcome| f64::from(outcome.met)).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / number(all.len()))
    }

    /// What was rolled back for, as a reason begins (`5xx`, `unanswered`), and how often.
    pub fn kinds(&self) -> BTreeMap<&str, usize> {
        let mut kinds = BTreeMap::new();
        for outcome in self.of(FinalState::RolledBack) {
            *kinds.entry(outcome.reason.split(':').next().unwrap_or_default()).or_default() += 1;
        }
        kinds
    }

    fn of(&self, result: FinalState) -> impl Iterator<Item = &RolloutOutcome> {
        self.outcomes.iter().filter(move |outcome| outcome.state == result)
    }
}

#[expect(clippy::cast_precision_loss, reason = "some thousand rollouts")]
const fn number(count: usize) -> f64 {
    count as f64
}

impl fmt::Display for Summary {
    /// `40 rollouts: 2.5% rolled back after 480 s {"5xx": 1}, met 9.0; 97.5% promoted after 3060 s, met 188.0; held 5.0%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rollouts: ", self.outcomes.len())?;
        let names = [
            (FinalState::RolledBack, "rolled back"),
            (FinalState::Promoted, "promoted"),
            (FinalState::Deadline, "ended by the deadline"),
            (FinalState::Open, "open"),
        ];
        for (result, name) in names {
            let Some(seconds) = self.median_seconds(result) else { continue };
            let met = self.mean_met(result).unwrap_or_default();
            write!(f, "{:.1}% {name} after {seconds} s, met {met:.1}; ", self.percent(result))?;
        }
        write!(f, "held {:.1}%; reasons {:?}", self.percent_held(), self.kinds())?;
        let last = self.of(FinalState::RolledBack).last().or(self.outcomes.last());
        last.map_or(Ok(()), |outcome| write!(f, "; the last one: {}", outcome.reason))
    }
}
