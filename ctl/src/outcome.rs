//! How a command can end well, as exit codes that scripts can rely on.

use std::process::ExitCode;

/// How a command ended that could do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, or the answer is yes.
    Done,
    /// The answer is a valid no: faults found, a check that failed.
    No,
}

/// The exit code of a command that could not do what it was asked.
pub const COULD_NOT: u8 = 2;
/// The exit code of a command that was interrupted, as shells have it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

impl Outcome {
    /// 0 done, 1 a valid no.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::No => ExitCode::from(1),
        }
    }
}
