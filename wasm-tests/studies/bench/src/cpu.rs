//! The CPU time of a process in nanoseconds, and the core that it runs on.

use crate::error::{BenchError, file};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Where Envoy runs while it is measured.
pub(crate) const PROXY_CORE: &str = "0";

/// Where everything runs that makes its work.
pub(crate) const LOAD_CORE: &str = "1";

/// CPU time of all threads so far, nanoseconds.
///
/// # Source
/// Linux `Documentation/scheduler/sched-stats.rst`: the first number of `/proc/<pid>/task/<tid>/schedstat`. The ticks
/// of `/proc/<pid>/stat` are 10 ms, a percent of a run.
pub(crate) fn nanoseconds(pid: u32) -> Result<u64, BenchError> {
    let tasks = PathBuf::from(format!("/proc/{pid}/task"));
    let mut total = 0;
    for task in fs::read_dir(&tasks).map_err(file(&tasks))? {
        let path = task.map_err(file(&tasks))?.path().join("schedstat");
        let text = fs::read_to_string(&path).map_err(file(&path))?;
        total += text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or_default();
    }
    Ok(total)
}

/// Resident memory now, bytes.
pub(crate) fn resident_bytes(pid: u32) -> Result<u64, BenchError> {
    let path = PathBuf::from(format!("/proc/{pid}/status"));
    let text = fs::read_to_string(&path).map_err(file(&path))?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    Ok(kilobytes.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or_default() * 1024)
}

/// Keeps every thread of a process on a core; threads that it starts later stay there too.
pub(crate) fn pin(pid: u32, core: &str) -> Result<(), BenchError> {
    let result = Command::new("taskset").args(["-a", "-c", "-p", core]).arg(pid.to_string()).output();
    let output =
        result.map_err(|source| BenchError::Program { program: "taskset", package: "util-linux", source })?;
    if output.status.success() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(BenchError::Output { program: "taskset", expected: "a new affinity", found })
}
