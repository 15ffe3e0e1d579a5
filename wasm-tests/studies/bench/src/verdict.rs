//! The required and the desired bounds of the figures. What a request may cost is judged by its instructions: they are the same on
//! every processor, and CPU time is not.

use crate::contender::{EMPTY_SDK, LUA, NONE, NONE_AGAIN, PINNED, PINNED_10000};
use crate::counts;
use crate::report::Report;

/// The most instructions that a pinned user may take beside the empty SDK filter.
const MUST_RATIO: f64 = 1.20;

/// The most that it should take.
const AIM_RATIO: f64 = 1.08;

/// The module must be smaller, bytes.
const MUST_BYTES: u64 = 150_000;

/// Ids that `simulate` must read, millions a second.
const MUST_MILLIONS: f64 = 5.0;

/// Ratios nearer to one than this count as one: an A/A comparison differs by as much.
const NOISE: f64 = 0.03;

/// One sentence about the figures, and whether it is true.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    sentence: String,
    holds: bool,
    is_must: bool,
}

impl Verdict {
    fn must(sentence: String, holds: bool) -> Self {
        Self { sentence, holds, is_must: true }
    }

    fn aim(sentence: String, holds: bool) -> Self {
        Self { sentence, holds, is_must: false }
    }

    /// Whether it is no reason to fail.
    pub(crate) const fn is_acceptable(&self) -> bool {
        self.holds || !self.is_must
    }

    /// As a line of text.
    pub(crate) fn line(&self) -> String {
        let response = if self.holds { "yes" } else { "**no**" };
        let kind = if self.is_must { "must" } else { "aim" };
        format!("{response} ({kind}): {}", self.sentence)
    }
}

/// All verdicts; a requirement without a measurement fails.
pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let ratio = |name, reference| report.direct.ratio(name, reference).map_or(f64::NAN, |ratio| ratio.median);
    let counted =
        |reference| counts::instructions_beside(&report.counts, PINNED, reference).unwrap_or(f64::NAN);
    let (sdk, lua) = (counted(EMPTY_SDK), counted(LUA));
    let (scale, noise) = (ratio(PINNED_10000, PINNED), ratio(NONE_AGAIN, NONE));
    let kilobytes = report.module_bytes / 1_000;
    let millions = report.simulation.millions.median;
    vec![
        Verdict::must(
            format!(
                "a pinned user takes {sdk:.3} × the instructions of the empty SDK filter, at most {MUST_RATIO:.2}"
            ),
            sdk <= MUST_RATIO,
        ),
        Verdict::aim(
            format!(
                "a pinned user takes {sdk:.3} × the instructions of the empty SDK filter, at most {AIM_RATIO:.2}"
            ),
            sdk <= AIM_RATIO,
        ),
        Verdict::aim(
            format!(
                "a pinned user takes {lua:.3} × the instructions of the Lua filter, which does less: below 1"
            ),
            lua < 1.0,
        ),
        Verdict::aim(
            format!(
                "10,000 releases cost {scale:.2} × the CPU time of a request that one costs: 1 within {NOISE:.2}"
            ),
            (scale - 1.0).abs() <= NOISE,
        ),
        Verdict::must(
            format!("the module has {kilobytes} kB, below {} kB", MUST_BYTES / 1_000),
            report.module_bytes < MUST_BYTES,
        ),
        Verdict::must(
            format!("`simulate` reads {millions:.1} million ids a second, at least {MUST_MILLIONS:.0}"),
            millions >= MUST_MILLIONS,
        ),
        Verdict::aim(
            format!(
                "the same twice (A/A) differs by {noise:.3}: 1 within {NOISE:.2}, or the rest is noise too"
            ),
            (noise - 1.0).abs() <= NOISE,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;
    use crate::machine::Machine;
    use crate::memory::Memory;
    use crate::rounds::{Effort, Samples};
    use crate::simulate::Simulation;
    use crate::summary::Summary;

    /// A pinned user costs so much beside the empty SDK filter, by instructions and in time.
    fn report(instructions: f64, time: f64) -> Report {
        let one = Summary { low: 1.0, median: 1.0, high: 1.0, max: 1.0 };
        let fast = Summary { median: 10.0, ..one };
        let count = |name: &str, instructions| Counts {
            name: name.to_owned(),
            instructions,
            instruction_misses: 1.0,
            data_misses: 1.0,
            second_level_misses: 1.0,
        };
        let mut direct = Samples::default();
        let costs = [(NONE, 1.0), (NONE_AGAIN, 1.0), (EMPTY_SDK, 1.0), (PINNED, time), (PINNED_10000, time)];
        direct.push(costs.map(|(name, cost)| (name.to_owned(), vec![cost])).into());
        Report {
            machine: Machine::example(),
            effort: Effort { rounds: 1, seconds: 1 },
            direct,
            counts: vec![count(EMPTY_SDK, 1.0), count(LUA, 1.0), count(PINNED, instructions)],
            processors: Vec::new(),
            proxied: Samples::default(),
            module_bytes: 148_000,
            memory: Memory {
                one: 1,
                many: 2,
                many_updated: 2,
                one_two_workers: 1,
                many_two_workers: 2,
                json: 1,
            },
            updates: Vec::new(),
            activation: one,
            simulation: Simulation { millions: fast, ratio: one },
        }
    }

    #[test]
    fn a_request_is_judged_by_instructions_and_not_by_the_time_of_this_processor() {
        let holds = |instructions, time| all(&report(instructions, time)).iter().all(Verdict::is_acceptable);
        assert!(holds(1.183, 1.26), "{:#?}", all(&report(1.183, 1.26)));
        assert!(!holds(1.21, 1.0), "{:#?}", all(&report(1.21, 1.0)));
        let page = report(1.183, 1.26).markdown();
        let sentence = "* yes (must): a pinned user takes 1.183 × the instructions of the empty SDK filter, at most 1.20";
        assert!(page.lines().any(|line| line == sentence), "{page}");
    }
}
