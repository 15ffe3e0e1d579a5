//! One run of `wrk`: how many requests Envoy answered.

use crate::cpu::LOAD_CORE;
use crate::error::BenchError;
use std::net::SocketAddr;
use std::process::Command;

/// Connections of a timed run: enough that Envoy always has work, few enough that it is the work of a quiet proxy.
pub(crate) const TIMED: &str = "-c16";

/// Connections of a counted run: how many requests an Envoy finds waiting would differ from run to run.
pub(crate) const COUNTED: &str = "-c1";

/// Sends this request repeatedly for so many seconds. Fails if a request has no response or an error.
pub(crate) fn run(
    address: SocketAddr,
    headers: &[(&str, String)],
    connections: &str,
    seconds: u32,
) -> Result<u64, BenchError> {
    let mut command = Command::new("taskset");
    command.args(["-c", LOAD_CORE, "wrk", "-t1", connections]).arg(format!("-d{seconds}s"));
    for (name, value) in headers {
        command.arg("-H").arg(format!("{name}: {value}"));
    }
    let result = command.arg(format!("http://{address}{}", crate::request::PATH)).output();
    let output = result.map_err(|source| BenchError::Program { program: "wrk", package: "wrk", source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let failed = ["Non-2xx", "Socket errors"].iter().any(|complaint| text.contains(complaint));
    let requests = requests(&text).filter(|_| output.status.success() && !failed);
    requests.ok_or_else(|| BenchError::Output {
        program: "wrk",
        expected: "requests without a single error",
        found: format!("{text}{}", String::from_utf8_lossy(&output.stderr)),
    })
}

/// The number in `  123456 requests in 1.00s, 20.00MB read`.
fn requests(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains(" requests in "))?;
    line.split_whitespace().next()?.parse().ok().filter(|requests| *requests > 0)
}

#[cfg(test)]
mod tests {
    use super::requests;

    #[test]
    fn the_number_of_requests_is_read_from_wrks_summary() {
        let output = "Running 1s test\n  45678 requests in 1.10s, 7.84MB read\nRequests/sec:  41525.45\n";
        assert_eq!(requests(output), Some(45_678));
        assert_eq!(requests("unable to connect"), None);
    }
}
