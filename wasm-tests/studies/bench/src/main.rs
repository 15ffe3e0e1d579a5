//! `./x bench`: what the filter costs beside its alternatives, measured on this machine and written to `docs/benchmarks.md`.
//!
//! ```text
//! machine     the machine, and its other load
//! config      releases as canary-ctl writes them: 1, 100, 10 000
//! request     the browser's request of each path through the filter
//! contender   filter chain and request of each         config, request -> Contender
//! bed         Envoys for each of them, on a core of their own
//! load, cpu   wrk on the other core; nanoseconds of CPU that Envoy's threads took
//! counts      instructions and cache misses of a request, which no neighbour disturbs
//! rounds      all contenders, in another order each round  -> Samples
//! summary     medians and quartiles of ratios within a round
//! processors  time on each processor that was measured, kept from run to run
//! memory, update, activation, simulate                 the figures that are no ratio of CPU time
//! report      all of it                                -> Markdown, verdicts
//! ```
//!
//! Ratios are taken inside a round, because a machine drifts over minutes more than filters differ.

mod activation;
mod bed;
mod config;
mod contender;
mod counts;
mod cpu;
mod error;
mod load;
mod machine;
mod memory;
mod processors;
mod report;
mod request;
mod rounds;
mod simulate;
mod summary;
mod update;
mod verdict;

use clap::Parser;
use error::BenchError;
use machine::Machine;
use processors::Processor;
use programs::artifact;
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare the filter's cost with its alternatives and write docs/benchmarks.md
#[derive(Debug, Parser)]
struct Arguments {
    /// Rounds of the comparison; each gives every Envoy one run
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of a run
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Compare this build of the module with the one that `./x wasm` made, for a pinned user (may be repeated); prints a
    /// table and leaves the file as it is
    #[arg(long, value_name = "FILE")]
    variant: Vec<PathBuf>,
    /// Count instructions and cache misses under valgrind instead of taking the time; prints a table and leaves the file as it is
    #[arg(long)]
    counts: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {}", error::with_causes(&error)));
            ExitCode::from(2)
        }
    }
}

/// Measures and writes the report. Returns whether all requirements hold.
async fn run(arguments: &Arguments) -> Result<bool, BenchError> {
    let machine = Machine::look()?;
    let module = artifact::filter()?;
    let effort = rounds::Effort { rounds: arguments.rounds, seconds: arguments.seconds };
    if arguments.counts {
        let contenders = match arguments.variant.as_slice() {
            [] => contender::counted(&module)?,
            variants => contender::variants(&module, variants)?,
        };
        say(&counts::table(&counts::measure(&contenders).await?, contender::EMPTY_SDK));
        return Ok(true);
    }
    if !arguments.variant.is_empty() {
        let samples =
            rounds::measure(contender::variants(&module, &arguments.variant)?, None, effort).await?;
        say(&report::table(&samples));
        return Ok(true);
    }
    let direct = rounds::measure(contender::direct(&module)?, None, effort).await?;
    let counts = counts::measure(&contender::counted(&module)?).await?;
    let upstream = bed::Backend::start().await?;
    let proxied = rounds::measure(contender::proxied(&module)?, Some(&upstream), effort).await?;
    let kept = artifact::root().join("wasm-tests/studies/bench/processors.json");
    let own = Processor::of(&machine, &direct, &proxied, &counts);
    let own = own.filter(|_| processors::is_kept(&machine, effort));
    let processors = processors::updated(processors::read(&kept)?, own);
    let report = Report {
        processors,
        machine,
        effort,
        direct,
        counts,
        proxied,
        module_bytes: std::fs::metadata(&module).map_err(error::file(&module))?.len(),
        memory: memory::measure(&module).await?,
        updates: update::measure(&module).await?,
        activation: activation::measure(&module, &upstream).await?,
        simulation: simulate::measure()?,
    };
    let path = artifact::root().join("docs/benchmarks.md");
    std::fs::write(&path, report.markdown()).map_err(error::file(&path))?;
    processors::write(&kept, &report.processors)?;
    for verdict in report.verdicts() {
        say(&verdict.line());
    }
    say(&format!("written: {}", path.display()));
    Ok(report.verdicts().iter().all(verdict::Verdict::is_acceptable))
}

/// Prints progress and verdicts to stderr.
#[expect(clippy::print_stderr, reason = "the one place where this program talks")]
fn say(text: &str) {
    eprintln!("{text}");
}
