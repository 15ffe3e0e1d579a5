//! All contenders in several Envoys each, one run each a round, in another order each round.

use crate::bed::{Backend, Bed, Placement};
use crate::contender::Contender;
use crate::error::BenchError;
use crate::summary::Summary;
use crate::{cpu, load, say};
use std::collections::BTreeMap;
use std::iter;

/// How long a VM runs before it counts: V8 compiles what is hot once more, and better.
const WARM_UP_SECONDS: u32 = 2;

/// The number of Envoys of each contender (also in the report): two of the same build differ by up to a tenth, for as
/// long as they live.
const PROCESSES: usize = 3;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Runs of each contender.
    pub(crate) rounds: u32,
    /// Length of a run.
    pub(crate) seconds: u32,
}

/// CPU time of every contender in every round.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// Microseconds per request, by round: the middle one of a contender's Envoys.
    microseconds: BTreeMap<String, Vec<f64>>,
    /// Contenders in the order of the tables.
    pub(crate) names: Vec<String>,
}

/// Starts the Envoys of each, warms all, and measures round after round.
pub(crate) async fn measure(
    contenders: Vec<Contender>,
    upstream: Option<&Backend>,
    effort: Effort,
) -> Result<Samples, BenchError> {
    let mut beds = Vec::new();
    for contender in contenders.iter().flat_map(|contender| iter::repeat_n(contender, PROCESSES)) {
        let bed = Bed::start(contender, upstream, Placement::MEASURED).await?;
        let warm = load::run(bed.address, &bed.headers, load::TIMED, WARM_UP_SECONDS)?;
        say(&format!("{}: warm after {warm} requests", bed.name));
        beds.push((bed, warm));
    }
    let names = contenders.into_iter().map(|contender| contender.name).collect();
    let mut samples = Samples { names, ..Samples::default() };
    let mut order: Vec<usize> = (0..beds.len()).collect();
    for round in 1..=effort.rounds {
        say(&format!("round {round} of {}", effort.rounds));
        fastrand::shuffle(&mut order);
        let mut costs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for index in &order {
            let Some((bed, requests)) = beds.get_mut(*index) else { continue };
            let before = cpu::nanoseconds(bed.pid())?;
            let answered = load::run(bed.address, &bed.headers, load::TIMED, effort.seconds)?;
            let spent = cpu::nanoseconds(bed.pid())?.saturating_sub(before);
            *requests += answered;
            costs.entry(bed.name.clone()).or_default().push(float(spent) / float(answered) / 1_000.0);
        }
        samples.push(costs);
    }
    for (bed, requests) in &beds {
        bed.prove(*requests).await?;
    }
    Ok(samples)
}

impl Samples {
    /// Adds a round.
    pub(crate) fn push(&mut self, costs: BTreeMap<String, Vec<f64>>) {
        for (name, costs) in costs {
            let middle = Summary::of(costs).map(|summary| summary.median);
            self.microseconds.entry(name).or_default().extend(middle);
        }
    }

    /// CPU time per request, microseconds.
    pub(crate) fn cost(&self, name: &str) -> Option<Summary> {
        Summary::of(self.of(name).iter().copied())
    }

    /// CPU time beside another's of the same round.
    pub(crate) fn ratio(&self, name: &str, reference: &str) -> Option<Summary> {
        Summary::of(self.of(name).iter().zip(self.of(reference)).map(|(ours, theirs)| ours / theirs))
    }

    /// CPU time over another's of the same round, microseconds.
    pub(crate) fn over(&self, name: &str, reference: &str) -> Option<Summary> {
        Summary::of(self.of(name).iter().zip(self.of(reference)).map(|(ours, theirs)| ours - theirs))
    }

    /// What CPU time is added to that of a base beside what another adds to it, in the same round.
    pub(crate) fn added(&self, name: &str, reference: &str, base: &str) -> Option<Summary> {
        let rows = self.of(name).iter().zip(self.of(reference)).zip(self.of(base));
        Summary::of(rows.map(|((ours, theirs), base)| (ours - base) / (theirs - base)))
    }

    fn of(&self, name: &str) -> &[f64] {
        self.microseconds.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Counts of a run are far below 2^52, where a float is exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_compared_within_a_round() {
        let mut samples = Samples::default();
        for (base, sdk, ours) in [(20.0, 24.0, 28.0), (40.0, 50.0, 63.0), (20.0, 25.0, 31.0)] {
            let costs = [("base", base), ("sdk", sdk), ("ours", ours)];
            samples.push(costs.map(|(name, cost)| (name.to_owned(), vec![cost])).into());
        }
        let added = samples.added("ours", "sdk", "base").unwrap();
        assert_eq!(
            [added.low, added.median, added.high].map(|it| format!("{it:.2}")),
            ["2.10", "2.20", "2.25"]
        );
    }
}
