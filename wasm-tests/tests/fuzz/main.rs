//! Random configurations, requests and responses: the module never traps, the code never panics, and the two agree.
//!
//! A trap takes every request in flight on its worker with it, so no input may reach one. Cases are mutations of valid
//! ones, because noise is refused at the first byte.
//!
//! | variable | meaning | default |
//! | --- | --- | --- |
//! | `FUZZ_SECONDS` | how long | 10 |
//! | `FUZZ_SEED` | where to begin; printed by each run | fixed without `FUZZ_SECONDS`, else random |
//!
//! A failure prints its case as text. Saved as `wasm-tests/corpus/<name>.case` it is replayed by every run from then on.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "all of this is test code, but clippy knows only functions marked as tests"
)]

mod case;
mod generate;
mod mutate;
mod native;
mod run;

use case::Case;
use std::time::{Duration, Instant};

/// The seed of runs that must be the same every time.
const FIXED_SEED: u64 = 20_261_121;

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("expected a whole number in {name}, found `{text}`")))
}

#[test]
fn no_input_traps_the_module_or_panics_the_code() {
    let duration = variable("FUZZ_SECONDS");
    let seed = variable("FUZZ_SEED").unwrap_or_else(|| duration.map_or(FIXED_SEED, |_| fastrand::u64(..)));
    let end = Instant::now() + Duration::from_secs(duration.unwrap_or(10));
    println!("FUZZ_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut met = run::Observed::default();
    // On a busy machine the module alone takes this time to compile.
    while Instant::now() < end || met.cases < 500 {
        run::check(&generate::case(&mut random), &mut met);
    }
    println!("{met:?}");
    // A fuzz run that only meets refusals tests nothing.
    assert!(met.cases > 100, "{met:?}");
    assert!(met.accepted * 5 > met.cases && met.accepted < met.cases, "{met:?}");
    assert!(met.decided * 4 > met.requests && met.undecided > 0, "{met:?}");
    assert!(met.reasons.len() >= 9, "nearly every reason is met: {met:?}");
}

#[test]
fn the_corpus_is_harmless() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut met = run::Observed::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let case = Case::from_text(&std::fs::read_to_string(&path).unwrap());
        println!("{}", path.display());
        run::check(&case, &mut met);
    }
    assert!(met.cases >= 8, "{met:?}");
    let genuine = met.reasons.contains("pin") && met.reasons.contains("override");
    assert!(genuine, "the corpus holds pins and tokens that were signed for the format of today: {met:?}");
}

#[test]
fn a_case_survives_its_way_through_text() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..50 {
        let case = generate::case(&mut random);
        assert_eq!(Case::from_text(&case.to_text()), case);
    }
}
