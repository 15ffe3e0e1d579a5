//! How fast `canary-ctl simulate` counts session ids, beside `wc -l` on the same file.

use crate::error::{BenchError, file};
use crate::say;
use crate::summary::Summary;
use assignment::Salt;
use canary_ctl::simulate::{Census, Field, Identifier, Progress, Rules};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Session ids in the file, each 32 hexadecimal digits and a line feed.
const IDS: u32 = 5_000_000;

/// Readings of the file by each of the two.
const ROUNDS: u32 = 7;

/// What the readings came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulation {
    /// Millions of ids a second.
    pub(crate) millions: Summary,
    /// Time beside that of `wc -l` of the same round.
    pub(crate) ratio: Summary,
}

/// Writes the ids, and has both read them in turn. The file is in the page cache for both.
pub(crate) fn measure() -> Result<Simulation, BenchError> {
    say("simulate");
    let directory = tempfile::tempdir().map_err(file(&std::env::temp_dir()))?;
    let path = directory.path().join("ids.txt");
    write_ids(&path).map_err(file(&path))?;
    let (mut millions, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let theirs = time(|| count_lines(&path))?;
        let ours = time(|| count_users(&path))?;
        millions.push(f64::from(IDS) / ours / 1e6);
        ratios.push(ours / theirs);
    }
    let none = || BenchError::NoFigures("simulate");
    Ok(Simulation {
        millions: Summary::of(millions).ok_or_else(none)?,
        ratio: Summary::of(ratios).ok_or_else(none)?,
    })
}

fn write_ids(path: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for _ in 0..IDS {
        writeln!(out, "{:032x}", fastrand::u128(..))?;
    }
    out.flush()
}

fn count_users(path: &Path) -> Result<(), BenchError> {
    let rules = Rules {
        field: Field::Line,
        identifier: Identifier::Plain,
        salt: Salt::new("shop/shop/v2"),
        distinct: false,
    };
    let ids = File::open(path).map_err(file(path))?;
    let census = Census::take(ids, &rules, &mut Progress::hidden()).map_err(file(path))?;
    if census.users() == u64::from(IDS) { Ok(()) } else { Err(BenchError::NoFigures("simulate")) }
}

fn count_lines(path: &Path) -> Result<(), BenchError> {
    let result = Command::new("wc").arg("-l").arg(path).output();
    result.map(drop).map_err(|source| BenchError::Program { program: "wc", package: "coreutils", source })
}

/// Seconds.
fn time(work: impl FnOnce() -> Result<(), BenchError>) -> Result<f64, BenchError> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}
