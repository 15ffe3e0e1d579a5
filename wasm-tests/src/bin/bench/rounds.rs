//! All contenders, one run each a round, in another order each round.

use crate::bed::{Backend, Bed, Placement};
use crate::contender::Contender;
use crate::error::BenchError;
use crate::summary::Summary;
use crate::{cpu, load, say};
use std::collections::BTreeMap;

/// How long a VM runs before it counts: V8 compiles what is hot once more, and better.
const WARM_UP_SECONDS: u32 = 2;

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
    /// Microseconds per request, by round.
    microseconds: BTreeMap<String, Vec<f64>>,
    /// Contenders in the order of the tables.
    pub(crate) names: Vec<String>,
}

/// Starts an Envoy for each, warms all, and measures round after round.
pub(crate) async fn measure(
    contenders: Vec<Contender>,
    upstream: Option<&Backend>,
    effort: Effort,
) -> Result<Samples, BenchError> {
    let mut beds = Vec::new();
    for contender in &contenders {
        let bed = Bed::start(contender, upstream, Placement::MEASURED).await?;
        let warm = load::run(bed.address, &bed.headers, WARM_UP_SECONDS)?;
        say(&format!("{}: warm after {warm} requests", bed.name));
        beds.push((bed, warm));
    }
    let mut samples =
        Samples { names: beds.iter().map(|(bed, _)| bed.name.clone()).collect(), ..Samples::default() };
    let mut order: Vec<usize> = (0..beds.len()).collect();
    for round in 1..=effort.rounds {
        say(&format!("round {round} of {}", effort.rounds));
        fastrand::shuffle(&mut order);
        for index in &order {
            let Some((bed, requests)) = beds.get_mut(*index) else { continue };
            let before = cpu::nanoseconds(bed.pid())?;
            let answered = load::run(bed.address, &bed.headers, effort.seconds)?;
            let spent = cpu::nanoseconds(bed.pid())?.saturating_sub(before);
            *requests += answered;
            samples
                .microseconds
                .entry(bed.name.clone())
                .or_default()
                .push(float(spent) / float(answered) / 1_000.0);
        }
    }
    for (bed, requests) in &beds {
        bed.prove(*requests).await?;
    }
    Ok(samples)
}

impl Samples {
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

    fn of(&self, name: &str) -> &[f64] {
        self.microseconds.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Counts of a run are far below 2^52, where a float is exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn float(count: u64) -> f64 {
    count as f64
}
