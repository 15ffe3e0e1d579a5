//! What the figures were made on, and what else went on there.

use crate::error::{BenchError, file};
use envoy_kit as envoy;
use programs::artifact;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A machine that does more than this on each core, before we begin, is shared; its figures are provisional.
const BUSY: f64 = 0.25;

/// The machine, and the versions of what is measured on it.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Model of the processor.
    pub(crate) processor: String,
    /// Cores that this process may use.
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    /// Envoy's own words.
    pub(crate) envoy: String,
    /// `wrk`'s own words.
    pub(crate) wrk: String,
    /// The compiler that is found here.
    pub(crate) rustc: String,
    /// The commit, and whether files differ from it.
    pub(crate) commit: String,
    /// When the measuring began.
    pub(crate) begun: jiff::Timestamp,
    /// Load average of the last minute before it, processes.
    pub(crate) load: f64,
}

impl Machine {
    /// Describes this machine. Fails if it has only one core: load and proxy each need one.
    pub(crate) fn look() -> Result<Self, BenchError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores < 2 {
            return Err(BenchError::Cores(cores));
        }
        let average = read("/proc/loadavg")?;
        let envoy = said(Command::new(envoy::newest()?.path).arg("--version"));
        let repository = artifact::root().display().to_string();
        let changed =
            !said(Command::new("git").args(["-C", &repository, "status", "--porcelain"])).is_empty();
        let commit = said(Command::new("git").args(["-C", &repository, "rev-parse", "--short", "HEAD"]));
        Ok(Self {
            processor: processor(&read("/proc/cpuinfo")?),
            cores,
            kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            // Before it is the path of the program.
            envoy: envoy.rsplit_once("version: ").map_or(envoy.clone(), |(_, version)| version.to_owned()),
            wrk: said(Command::new("wrk").arg("--version")),
            rustc: said(Command::new("rustc").arg("--version")),
            commit: if changed { format!("{commit}, with changes") } else { commit },
            begun: jiff::Timestamp::now(),
            load: average.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default(),
        })
    }

    /// Whether others worked here when we began.
    pub(crate) fn is_shared(&self) -> bool {
        let cores = u32::try_from(self.cores).map_or(f64::MAX, f64::from);
        self.load > BUSY * cores
    }
}

#[cfg(test)]
impl Machine {
    /// A quiet one.
    pub(crate) fn example() -> Self {
        Self {
            processor: "AMD EPYC".to_owned(),
            cores: 2,
            kernel: String::new(),
            envoy: String::new(),
            wrk: String::new(),
            rustc: String::new(),
            commit: String::new(),
            begun: jiff::Timestamp::UNIX_EPOCH,
            load: 0.0,
        }
    }
}

fn processor(cpuinfo: &str) -> String {
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, model)| model.to_owned())
}

/// The first line of a program's output; empty if the program is missing.
fn said(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

fn read(path: &str) -> Result<String, BenchError> {
    fs::read_to_string(path).map_err(file(Path::new(path)))
}
