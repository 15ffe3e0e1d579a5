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

/// The page of the exit codes.
pub(crate) const EXIT_CODES: &str = "\
0    done; of a dry run: the write would be done
1    an answer that scripts act on:
       diff                    there are differences
       lint, doctor            an error was found
       verify                  a check failed
       explain                 no release matches host and path
       token inspect           the token is not genuine, or not valid
       module verify           another module was found
       twin check, twin diff   a fault, or a difference
       twin adopt              ReplicaSet or pods are not those of before
       init --from-*           what guards users was lost
       rollout run             ended in a rollback or a stop
       rollout test-*          a receiver, a metric or a hook failed
       rollback                written, and not observed in every proxy
2    failed, or refused before the first write; stderr has the error and a hint
130  interrupted

With `-o json` an error is one line of JSON on stderr: `error` has `id`, `message`
and `hint`. The ids are on the page `docs/reference/errors.md`.
";

impl Outcome {
    /// 0 done, 1 differences, faults or failed checks.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Differences => ExitCode::from(1),
        }
    }
}
