//! CPU time on each processor that was measured. Instructions are the same on all of them and time is not, so a run keeps the
//! figures of the others: they are in `wasm-tests/studies/bench/processors.json`. A trial, or a run on a busy machine, changes none of them.

use crate::contender::{EMPTY_SDK, NONE, NONE_AGAIN, PINNED};
use crate::counts::{self, Counts};
use crate::error::{BenchError, file};
use crate::machine::Machine;
use crate::rounds::{Effort, Samples};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The figures of one processor. Ratios are medians of the rounds' ratios, of a pinned user where nothing else is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Processor {
    pub(crate) name: String,
    /// Cores that the benchmark could use.
    pub(crate) cores: usize,
    /// When, and of which commit.
    pub(crate) measured: String,
    /// A request without a filter, microseconds.
    pub(crate) no_filter_microseconds: f64,
    /// The same twice: what it differs from 1 by is noise.
    pub(crate) again: f64,
    pub(crate) beside_no_filter: f64,
    /// Beside the empty SDK filter: lower quartile, median, upper quartile.
    pub(crate) beside_sdk: [f64; 3],
    /// What it adds to no filter beside what the empty SDK filter adds.
    pub(crate) added_beside_sdk: f64,
    /// Beside the empty SDK filter where Envoy asks a server.
    pub(crate) proxied_beside_sdk: f64,
    /// Instructions beside the empty SDK filter.
    pub(crate) instructions_beside_sdk: f64,
}

impl Processor {
    /// The figures of this machine; `None` if a row is missing.
    pub(crate) fn of(
        machine: &Machine,
        direct: &Samples,
        proxied: &Samples,
        counted: &[Counts],
    ) -> Option<Self> {
        let sdk = direct.ratio(PINNED, EMPTY_SDK)?;
        Some(Self {
            name: machine.processor.clone(),
            cores: machine.cores,
            measured: format!("{}, commit {}", machine.begun.strftime("%Y-%m-%d"), machine.commit),
            no_filter_microseconds: rounded(direct.cost(NONE)?.median),
            again: rounded(direct.ratio(NONE_AGAIN, NONE)?.median),
            beside_no_filter: rounded(direct.ratio(PINNED, NONE)?.median),
            beside_sdk: [sdk.low, sdk.median, sdk.high].map(rounded),
            added_beside_sdk: rounded(direct.added(PINNED, EMPTY_SDK, NONE)?.median),
            proxied_beside_sdk: rounded(proxied.ratio(PINNED, EMPTY_SDK)?.median),
            instructions_beside_sdk: rounded(counts::instructions_beside(counted, PINNED, EMPTY_SDK)?),
        })
    }
}

/// The fewest rounds whose figures replace earlier ones.
const LEAST_ROUNDS: u32 = 9;

/// Whether the figures of a run are kept: of a quiet machine, and not those of a trial.
pub(crate) fn is_kept(machine: &Machine, effort: Effort) -> bool {
    !machine.is_shared() && effort.rounds >= LEAST_ROUNDS
}

/// Three digits are more than a run repeats.
fn rounded(figure: f64) -> f64 {
    (figure * 1_000.0).round() / 1_000.0
}

/// The figures of all processors that were measured before.
pub(crate) fn read(path: &Path) -> Result<Vec<Processor>, BenchError> {
    let text = fs::read_to_string(path).map_err(file(path))?;
    serde_json::from_str(&text).map_err(|error| file(path)(error.into()))
}

/// Keeps the figures for the next run, on this processor or another.
pub(crate) fn write(path: &Path, processors: &[Processor]) -> Result<(), BenchError> {
    let text = serde_json::to_string_pretty(processors).map_err(|error| file(path)(error.into()))?;
    fs::write(path, text + "\n").map_err(file(path))
}

/// With the figures of this processor in place of its earlier ones.
pub(crate) fn updated(mut processors: Vec<Processor>, own: Option<Processor>) -> Vec<Processor> {
    let Some(own) = own else { return processors };
    match processors.iter_mut().find(|other| other.name == own.name) {
        Some(earlier) => *earlier = own,
        None => processors.push(own),
    }
    processors
}

/// A row for each.
pub(crate) fn table(processors: &[Processor]) -> String {
    let row = |of: &Processor| {
        let [low, median, high] = of.beside_sdk;
        format!(
            "| {}, {} cores | {} | {:.1} | {:.2} | {:.2} | {median:.2} ({low:.2}–{high:.2}) | {:.1} | {:.2} | {:.3} |\n",
            of.name,
            of.cores,
            of.measured,
            of.no_filter_microseconds,
            of.again,
            of.beside_no_filter,
            of.added_beside_sdk,
            of.proxied_beside_sdk,
            of.instructions_beside_sdk,
        )
    };
    format!(
        "| processor | measured | no filter, µs | A/A | × no filter | × empty SDK filter | added × what the SDK filter adds | \
         with a server: × empty SDK filter | instructions × empty SDK filter |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{}",
        processors.iter().map(row).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use programs::artifact;

    fn processor(name: &str, added: f64) -> Processor {
        Processor {
            name: name.to_owned(),
            cores: 2,
            measured: "2026-11-24, commit abc".to_owned(),
            no_filter_microseconds: 45.9,
            again: 1.01,
            beside_no_filter: 1.6,
            beside_sdk: [1.25, 1.26, 1.26],
            added_beside_sdk: added,
            proxied_beside_sdk: 1.17,
            instructions_beside_sdk: 1.183,
        }
    }

    #[test]
    fn a_run_replaces_the_figures_of_its_own_processor_and_keeps_the_others() {
        let before = vec![processor("Intel", 2.0), processor("AMD", 2.1)];
        let after = updated(before.clone(), Some(processor("AMD", 2.2)));
        assert_eq!(after, [processor("Intel", 2.0), processor("AMD", 2.2)]);
        assert_eq!(updated(before.clone(), Some(processor("Ampere", 2.3))).len(), 3);
        assert_eq!(updated(before.clone(), None), before);
    }

    #[test]
    fn the_figures_of_a_trial_and_of_a_busy_machine_are_not_kept() {
        let is_kept =
            |load, rounds| is_kept(&Machine { load, ..Machine::example() }, Effort { rounds, seconds: 1 });
        assert_eq!([is_kept(0.1, 9), is_kept(0.1, 1), is_kept(4.0, 9)], [true, false, false]);
    }

    #[test]
    fn a_processor_is_a_row_with_the_ratio_of_the_whole_and_of_what_is_added() {
        let table = table(&[processor("AMD EPYC", 2.2)]);
        let expected = "| AMD EPYC, 2 cores | 2026-11-24, commit abc | 45.9 | 1.01 | 1.60 | 1.26 (1.25–1.26) | 2.2 | 1.17 | 1.183 |";
        assert_eq!(table.lines().last(), Some(expected));
    }

    #[test]
    fn the_kept_figures_are_read_and_are_on_the_page() {
        let kept = read(&artifact::root().join("wasm-tests/studies/bench/processors.json")).unwrap();
        assert!(kept.len() >= 2, "an Intel and an AMD: {kept:?}");
        let page = fs::read_to_string(artifact::root().join("docs/benchmarks.md")).unwrap();
        assert!(page.contains(&table(&kept)), "expected on the page:\n{}", table(&kept));
    }
}
