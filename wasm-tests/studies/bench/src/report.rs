//! The figures as `docs/benchmarks.md`: nothing in that file is written by hand.

use crate::contender::{EMPTY_SDK, LUA, NONE};
use crate::counts::{self, Counts};
use crate::machine::Machine;
use crate::memory::Memory;
use crate::processors::{self, Processor};
use crate::rounds::{Effort, Samples};
use crate::simulate::Simulation;
use crate::summary::Summary;
use crate::update::Update;
use crate::verdict::{self, Verdict};

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) effort: Effort,
    /// CPU time where Envoy answers by itself.
    pub(crate) direct: Samples,
    /// Instructions and cache misses where Envoy answers by itself.
    pub(crate) counts: Vec<Counts>,
    /// CPU time on every processor that was measured, this one included.
    pub(crate) processors: Vec<Processor>,
    /// CPU time where Envoy asks a server.
    pub(crate) proxied: Samples,
    /// Size of the module.
    pub(crate) module_bytes: u64,
    /// Memory of ten thousand releases.
    pub(crate) memory: Memory,
    /// Pauses at updates.
    pub(crate) updates: Vec<Update>,
    /// From `weight` to active, milliseconds.
    pub(crate) activation: Summary,
    /// Speed of `simulate`.
    pub(crate) simulation: Simulation,
}

const METHOD: &str = "\
## How it is measured

* Three Envoy processes for each row, because two of the same build differ by up to a tenth for as long as they live; a round's
  figure is the middle one. One worker, every thread on core 0; `wrk -t1 -c16` on core 1, so that Envoy never waits for work and
  nothing else runs beside it. Bootstrap, filter chain and delivery by file are what `canary-ctl` writes
  for its local target; two routes, one for the routing header and one for everything else.
* Cost is the CPU time of *all* of Envoy's threads by the scheduler's own clock (`/proc/PID/task/*/schedstat`, nanoseconds),
  divided by the requests answered. Not latency: a proxy is paid for in cores.
* Every round gives each Envoy one run, in another order each round, after a warm-up of each. A ratio is taken *within* a
  round, because a machine drifts over minutes more than filters differ; the tables have the median of the rounds' ratios
  and its quartiles. *A/A* is the same row twice: what it differs by is noise.
* The verdict on a request goes by instructions, which are the same on every processor. CPU time is not: the same instructions
  cost more on one than on another, so time is reported for each processor that was measured, and judges nothing.
* *Added* is what a filter adds to no filter, beside what the empty SDK filter adds, within a round: (ours − none) ÷ (SDK − none).
* The request is a browser's that loads a page: 14 headers, 300 bytes of cookies in every row, whatever is in them.
* A row of ours counts only if the filter's own counters say that every request took the path in the row's name, and no row
  counts if a single response was an error.
* *Empty SDK filter*: a filter by the book on the unmodified Rust SDK that does nothing, as cargo leaves it
  (`wasm-tests/studies/baselines/empty-sdk`). *Lua*: finds the session cookie, hashes it, compares it with the weight and sets the
  header (`wasm-tests/studies/baselines/canary.lua`); no pins, no MAC, no ids, no testers, no counters, one release.
* *Pinned user*: session cookie and a genuine pin, the same with every request as in the requests of a page: its MAC is verified with
  the first and remembered. (`wasm-tests/tests/wasm/cost.rs` has the instructions of one that is new.) *Hashed user*:
  `stickiness: user`, session cookie.
  *Hashed by minted id*: no session yet, a genuine id. *Minted user*: neither; an id is drawn, signed and set on the response,
  every time.
";

/// Experiments on one processor, written by hand: each changes one thing.
const TRIED: &str = include_str!("tried.md");

impl Report {
    /// The whole file.
    pub(crate) fn markdown(&self) -> String {
        let sections = [
            self.header(),
            self.verdict_list(),
            METHOD.to_owned(),
            self.processor_section(),
            format!("## A request that Envoy answers by itself\n\n{}", table(&self.direct)),
            self.counts_section(),
            self.with_a_server(),
            self.update_section(),
            self.memory_section(),
            self.other_figures(),
            self.machine_section(),
        ];
        sections.join("\n")
    }

    /// The verdicts on the figures.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        verdict::all(self)
    }

    fn header(&self) -> String {
        let Machine { begun, load, cores, commit, .. } = &self.machine;
        let Effort { rounds, seconds } = self.effort;
        let shared = if self.machine.is_shared() {
            format!(
                "\n\n**Provisional:** the machine was busy with other work when this began (load {load:.1} on {cores} cores). \
                 The ratios hold better than the rest; run it again on a quiet machine."
            )
        } else {
            String::new()
        };
        format!(
            "# Benchmarks\n\n<!-- Written by `./x bench`; do not edit. -->\n\n\
             Made by `./x bench` on {} from commit {commit}, {rounds} rounds of {seconds} s a row.{shared}\n",
            begun.strftime("%Y-%m-%d %H:%M UTC"),
        )
    }

    fn verdict_list(&self) -> String {
        let lines: Vec<String> =
            self.verdicts().iter().map(|verdict| format!("* {}\n", verdict.line())).collect();
        let lines = lines.concat();
        format!("## In short\n\n{lines}")
    }

    fn processor_section(&self) -> String {
        format!(
            "## A pinned user on each processor\n\n\
             CPU time of a request that Envoy answers by itself, and of one with a server behind it, by the last run of at least nine \
             rounds on a quiet machine with this processor. The whole differs by the processor, what is added beside what the empty filter adds \
             does not.\n\n{}\n{TRIED}",
            processors::table(&self.processors)
        )
    }

    fn counts_section(&self) -> String {
        format!(
            "## What such a request takes\n\n\
             Counted on one connection under callgrind and not timed: two runs on one machine, one of them beside a \
             compiler, differed by half a hundredth at most. Without the kernel's part, which is the same in all rows; \
             first-level caches of 32 kB. A filter's code is cold each time, so its cache misses cost more than its \
             instructions. `./x bench --counts` makes this table alone.\n\n{}",
            counts::table(&self.counts, EMPTY_SDK)
        )
    }

    fn with_a_server(&self) -> String {
        format!(
            "## A request that Envoy passes on\n\n\
             The same with a server behind it, another Envoy on the core of the load, for the one comparison that needs clusters: \
             Envoy's own `weighted_clusters.use_hash_policy` on the session cookie. It has no pins, so a weight change moves \
             sessions; where that is enough, nothing is cheaper.\n\n{}",
            table(&self.proxied)
        )
    }

    fn update_section(&self) -> String {
        let rows: Vec<String> = self
            .updates
            .iter()
            .map(|update| {
                let Update { releases, quiet_99, quiet_max, pause, window_99, active } = update;
                format!(
                    "| {releases} | {quiet_99:.1} | {quiet_max:.1} | {window_99:.1} | {} | {:.1} | {} |\n",
                    spread(*pause, 1),
                    pause.max,
                    spread(*active, 0),
                )
            })
            .collect();
        let rows = rows.concat();
        format!(
            "## A weight change under load\n\n\
             One worker, requests one after the other a millisecond apart on one connection, all releases in one file whose \
             replacement changes all of them. Milliseconds. *Longest* is the longest request of each update: how long the worker \
             was held up. *Active* is from the file's rename until the worker reports the new generation, without load.\n\n\
             | releases | p99, no update | longest, no update | p99 within 2.5 s of an update | longest of an update | of all updates | active |\n\
             | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{rows}"
        )
    }

    fn memory_section(&self) -> String {
        let memory = &self.memory;
        let row = |what: &str, bytes: u64| format!("| {what} | {} |\n", megabytes(bytes));
        let rows = [
            row("Envoy, one release, one worker", memory.one),
            row("Envoy, 10,000 releases, one worker", memory.many),
            row("the same after five weight changes of all of them", memory.many_updated),
            row("**10,000 releases take**", memory.for_releases()),
            row("and for each further worker", memory.for_each_worker()),
            row("their configuration as JSON", memory.json),
        ];
        format!("## Memory\n\nResident, MB.\n\n| | MB |\n| --- | ---: |\n{}", rows.concat())
    }

    fn other_figures(&self) -> String {
        let Self { activation, simulation, module_bytes, .. } = self;
        format!(
            "## Other figures\n\n| | |\n| --- | --- |\n\
             | the module | {module_bytes} bytes |\n\
             | from `weight` to active, one release, no traffic (files written and synced, Envoy's notice, worker's report) | {} ms |\n\
             | `simulate`, session ids of 32 characters | {} million a second |\n\
             | the same beside `wc -l` on the same file | {} × its time |\n",
            spread(*activation, 0),
            spread(simulation.millions, 1),
            spread(simulation.ratio, 1),
        )
    }

    fn machine_section(&self) -> String {
        let Machine { processor, cores, kernel, envoy, wrk, rustc, load, .. } = &self.machine;
        format!(
            "## Machine and versions\n\n| | |\n| --- | --- |\n\
             | processor | {processor}, {cores} cores |\n| kernel | {kernel} |\n| load before the first run | {load:.2} |\n\
             | Envoy | `{envoy}` |\n| wrk | `{wrk}` |\n| compiler | `{rustc}` |\n"
        )
    }
}

/// CPU time of every row, absolute and beside the yardsticks.
pub(crate) fn table(samples: &Samples) -> String {
    let cell =
        |summary: Option<Summary>, digits| summary.map_or_else(|| "–".to_owned(), |it| spread(it, digits));
    let row = |name: &String| {
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} |\n",
            cell(samples.cost(name), 1),
            cell(samples.over(name, NONE), 1),
            cell(samples.ratio(name, NONE), 2),
            cell(samples.ratio(name, EMPTY_SDK), 2),
            cell(samples.ratio(name, LUA), 2),
            cell(samples.added(name, EMPTY_SDK, NONE), 1),
        )
    };
    format!(
        "Median (quartiles).\n\n\
         | | µs a request | µs over no filter | × no filter | × empty SDK filter | × Lua | added × SDK's |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n{}",
        samples.names.iter().map(row).collect::<String>()
    )
}

/// `1.08 (1.07–1.10)`.
fn spread(summary: Summary, digits: usize) -> String {
    let Summary { low, median, high, .. } = summary;
    format!("{median:.digits$} ({low:.digits$}–{high:.digits$})")
}

fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}
