//! The binary: arguments in, exit code out. Everything else is the library's.

use std::process::ExitCode;

/// The filter that was built with this tool; empty if there was none (`build.rs`).
const MODULE: &[u8] = include_bytes!(env!("CANARY_EMBEDDED_MODULE"));

fn main() -> ExitCode {
    canary_ctl::run(std::env::args_os(), MODULE)
}
