//! The words of a command line: as a POSIX shell reads it, as Windows' `cmd.exe`, or as PowerShell.
//!
//! ```text
//! dialect     which shell a command was written for
//! posix       words with '…', "…", $'…' and \
//! cmd         words with ^, and the quotation marks of Windows' programs
//! powershell  words with '…', "…" and `
//! plain       what may stand outside quotation marks
//! ```

mod cmd;
mod dialect;
mod plain;
mod posix;
mod powershell;

use dialect::Dialect;

/// The error of a text that is no command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShellError {
    /// A quotation mark without its partner.
    #[error("expected a closing {0}, found the end of the command")]
    Unclosed(&'static str),
    /// `$'\x…'` without digits.
    #[error("expected hexadecimal digits after `\\{0}`")]
    NotHex(char),
    /// The command is cut off where it goes on in the next line.
    #[error("expected the next line of the command after the last `{0}`, found its end")]
    Continues(char),
    /// A character that ends a command, or sends its output elsewhere.
    #[error("expected one command, found `{0}` outside quotation marks")]
    Operator(char),
    /// A character that word processors and chats write in place of one of a shell's.
    #[error("expected the plain characters of a shell, found {:?} (U+{:04X}) outside quotation marks", .0, u32::from(*.0))]
    Typographic(char),
    /// A variable, which a shell replaces before `curl` starts.
    #[error("expected the values of the request, found `${0}`, which a shell replaces")]
    Variable(String),
    /// An escape that names no character.
    #[error("expected a character's number, found {0:#x}")]
    NotACharacter(u32),
}

/// The words, unquoted, by the rules of the shell that the command was written for.
///
/// # Errors
///
/// If it is no single command of that shell.
pub(super) fn words(command: &str) -> Result<Vec<String>, ShellError> {
    match Dialect::of(command) {
        Dialect::Posix => posix::words(command),
        Dialect::Cmd => cmd::words(command),
        Dialect::PowerShell => powershell::words(command),
    }
}
