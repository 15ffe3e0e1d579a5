//! The required and the desired bounds of the figures.

use crate::contender::{EMPTY_SDK, LUA, NONE, NONE_AGAIN, PINNED, PINNED_10000};
use crate::report::Report;

/// The most that a pinned user may cost beside the empty SDK filter.
const MUST_RATIO: f64 = 1.20;

/// The most that it should.
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
        let answer = if self.holds { "yes" } else { "**no**" };
        let kind = if self.is_must { "must" } else { "aim" };
        format!("{answer} ({kind}): {}", self.sentence)
    }
}

/// All verdicts; a requirement without a measurement fails.
pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let ratio = |name, reference| report.direct.ratio(name, reference).map_or(f64::NAN, |ratio| ratio.median);
    let sdk = ratio(PINNED, EMPTY_SDK);
    let (lua, scale, noise) = (ratio(PINNED, LUA), ratio(PINNED_10000, PINNED), ratio(NONE_AGAIN, NONE));
    let kilobytes = report.module_bytes / 1_000;
    let millions = report.simulation.millions.median;
    vec![
        Verdict::must(
            format!("a pinned user costs {sdk:.2} × the empty SDK filter, at most {MUST_RATIO:.2}"),
            sdk <= MUST_RATIO,
        ),
        Verdict::aim(
            format!("a pinned user costs {sdk:.2} × the empty SDK filter, at most {AIM_RATIO:.2}"),
            sdk <= AIM_RATIO,
        ),
        Verdict::aim(
            format!("a pinned user costs {lua:.2} × the Lua filter, which does less: below 1"),
            lua < 1.0,
        ),
        Verdict::aim(
            format!("10,000 releases cost {scale:.2} × as much a request as one: 1 within {NOISE:.2}"),
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
