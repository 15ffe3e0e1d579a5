//! The binary: arguments in, exit code out. Everything else is the library's.

use std::process::ExitCode;

fn main() -> ExitCode {
    canary_ctl::run(std::env::args_os())
}
