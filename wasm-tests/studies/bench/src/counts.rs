//! What a request takes of the processor, counted instead of timed: instructions and cache misses under callgrind.
//!
//! CPU time is the cost, but on a shared machine it differs by a tenth from one process to the next and by half from
//! one minute to the next; counts of one build repeat to half a hundredth on a busy machine. The kernel's part is not
//! in them, and the caches are a model. Instruction-cache misses matter most: an Envoy runs so much code for a request
//! that a filter's is cold each time.

use crate::bed::{Bed, Placement};
use crate::contender::Contender;
use crate::error::{BenchError, file};
use crate::{load, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long an Envoy may take to start in slow motion: V8 compiles the whole module first.
pub(crate) const READY_WITHIN: Duration = Duration::from_mins(2);

/// Seconds of load before anything is counted, with nothing counting yet; then with cold caches; then counted.
const WARM_UP_SECONDS: u32 = 2;
const SETTLE_SECONDS: u32 = 1;
const COUNTED_SECONDS: u32 = 6;

/// Counts of one request.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(crate) name: String,
    /// Instructions in user space.
    pub(crate) instructions: f64,
    /// Fetches that a first-level instruction cache of 32 kB misses.
    pub(crate) instruction_misses: f64,
    /// Reads and writes that a first-level data cache of 32 kB misses.
    pub(crate) data_misses: f64,
    /// What a second-level cache of 512 kB misses too, as an AMD EPYC of the third generation has for each core.
    pub(crate) second_level_misses: f64,
}

/// Counts one request of each.
pub(crate) async fn measure(contenders: &[Contender]) -> Result<Vec<Counts>, BenchError> {
    let mut counts = Vec::new();
    for contender in contenders {
        say(&format!("{}: counting", contender.name));
        counts.push(count(contender).await?);
    }
    Ok(counts)
}

async fn count(contender: &Contender) -> Result<Counts, BenchError> {
    let bed = Bed::start(contender, None, Placement::COUNTED).await?;
    let requests = |seconds| load::run(bed.address, &bed.headers, load::COUNTED, seconds);
    let mut sent = requests(WARM_UP_SECONDS)?;
    control(bed.pid(), &["-i", "on"])?;
    sent += requests(SETTLE_SECONDS)?;
    control(bed.pid(), &["-z"])?;
    let counted = requests(COUNTED_SECONDS)?;
    control(bed.pid(), &["-d"])?;
    bed.prove(sent + counted).await?;
    let path = dump(bed.directory());
    let text = fs::read_to_string(&path).map_err(file(&path))?;
    Counts::read(&contender.name, &text, counted).ok_or_else(|| BenchError::Output {
        program: "callgrind",
        expected: "events and their totals",
        found: text.lines().take(30).collect::<Vec<_>>().join("\n"),
    })
}

/// The program that an Envoy runs under, and its arguments; its files go to this folder.
pub(crate) fn callgrind(directory: &Path) -> Vec<String> {
    let out = format!("--callgrind-out-file={}", directory.join(OUT).display());
    // A model of two levels: the last one is that of the smallest second level that was measured.
    let caches = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=524288,8,64"];
    let program = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", out.as_str()];
    let arguments = program.into_iter().chain(caches);
    arguments.map(str::to_owned).collect()
}

const OUT: &str = "callgrind.out";

/// The first requested dump.
fn dump(directory: &Path) -> PathBuf {
    directory.join(format!("{OUT}.1"))
}

fn control(pid: u32, arguments: &[&str]) -> Result<(), BenchError> {
    let result = Command::new("callgrind_control").args(arguments).arg(pid.to_string()).output();
    let program = "callgrind_control";
    let output = result.map_err(|source| BenchError::Program { program, package: "valgrind", source })?;
    if output.status.success() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(BenchError::Output { program, expected: "a callgrind that takes orders", found })
}

impl Counts {
    /// Reads a dump that counted so many requests.
    fn read(name: &str, dump: &str, requests: u64) -> Option<Self> {
        let line = |key: &str| dump.lines().find_map(|line| line.strip_prefix(key));
        let (events, totals) = (line("events: ")?, line("totals: ")?);
        let counts: Vec<(&str, f64)> = events
            .split_whitespace()
            .zip(totals.split_whitespace().map(|total| total.parse::<f64>().unwrap_or_default()))
            .collect();
        let requests = f64::from(u32::try_from(requests).ok().filter(|requests| *requests > 0)?);
        let of =
            |event: &str| counts.iter().find(|(name, _)| *name == event).map(|(_, count)| count / requests);
        Some(Self {
            name: name.to_owned(),
            instructions: of("Ir")?,
            instruction_misses: of("I1mr")?,
            data_misses: of("D1mr")? + of("D1mw")?,
            second_level_misses: of("ILmr")? + of("DLmr")? + of("DLmw")?,
        })
    }
}

/// Instructions of a row beside those of another; `None` if one of them was not counted.
pub(crate) fn instructions_beside(counts: &[Counts], name: &str, reference: &str) -> Option<f64> {
    let of = |name: &str| counts.iter().find(|row| row.name == name).map(|row| row.instructions);
    Some(of(name)? / of(reference)?)
}

/// Counts of every row, absolute and beside one of them.
pub(crate) fn table(counts: &[Counts], reference: &str) -> String {
    let row = |row: &Counts| {
        let beside = |of: fn(&Counts) -> f64| {
            let reference = counts.iter().find(|other| other.name == reference);
            reference.map_or_else(|| "–".to_owned(), |reference| format!("{:.3}", of(row) / of(reference)))
        };
        format!(
            "| {} | {:.0} | {:.0} | {:.0} | {:.0} | {} | {} |\n",
            row.name,
            row.instructions,
            row.instruction_misses,
            row.data_misses,
            row.second_level_misses,
            beside(|counts| counts.instructions),
            beside(|counts| counts.instruction_misses),
        )
    };
    format!(
        "| | instructions | instruction-cache misses | data-cache misses | second-level misses | instructions × {reference} | \
         instruction-cache misses × {reference} |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n{}",
        counts.iter().map(row).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_read_by_the_names_of_its_events() {
        let dump = "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\nfn=(1)\n3 4\n\ntotals: 1000 7 7 40 20 10 7 2 1\n";
        let counts = Counts::read("ours", dump, 10).unwrap();
        let Counts { instructions, instruction_misses, data_misses, second_level_misses, .. } = counts;
        let found = [instructions, instruction_misses, data_misses, second_level_misses];
        assert_eq!(found.map(|count| format!("{count:.1}")), ["100.0", "4.0", "3.0", "1.0"]);
        let of_no_requests = Counts::read("ours", dump, 0);
        assert!(of_no_requests.is_none(), "{of_no_requests:?}");
        let without_totals = Counts::read("ours", "events: Ir\n", 1);
        assert!(without_totals.is_none(), "{without_totals:?}");
    }
}
