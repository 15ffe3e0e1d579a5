//! How a command ends without an error, as exit codes that scripts can rely on.

use std::process::ExitCode;

/// The outcome of a command without an error, as `diff(1)` and `kubectl diff` have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done; no differences, no faults.
    Done,
    /// Differences, faults or failed checks.
    Differences,
}

/// The exit code of an error.
pub const COULD_NOT: u8 = 2;
/// The exit code of a command that was interrupted, as shells have it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

impl Outcome {
    /// 0 done, 1 differences, faults or failed checks.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Differences => ExitCode::from(1),
        }
    }
}
