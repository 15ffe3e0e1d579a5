//! A command for people to copy: the one place where a name becomes a word of it.
//!
//! Names come from annotations, labels, records and user databases, and a shell obeys what it is given. So the words of a command are ours
//! (`&'static str`), and a name is a word of it in one of two ways only.

use crate::report::escape::line;
use std::borrow::Cow;
use std::fmt::{Display, Formatter, Result};

/// The longest name of an object (RFC 1123, as Kubernetes reads it).
const MAX_NAME: usize = 253;

/// A command. Printed between backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellCommand(String);

impl ShellCommand {
    /// A command that begins with these words.
    pub(crate) fn new(words: &'static str) -> Self {
        Self(words.to_owned())
    }

    /// More words.
    #[must_use]
    pub(crate) fn words(self, words: &'static str) -> Self {
        self.word(words)
    }

    /// The name of an object, a namespace, or a label's value; `KIND/NAME` and `NAMESPACE/NAME` too. Any other text is left out, and
    /// the placeholder says what belongs there.
    #[must_use]
    pub(crate) fn name(self, name: &str, placeholder: &'static str) -> Self {
        self.word(if is_name(name) { name } else { placeholder })
    }

    /// A path or a user, quoted as POSIX shells and PowerShell read it; the placeholder, where they differ, where a terminal would not show it as
    /// it is, or where a flag would be read.
    #[must_use]
    pub(crate) fn quoted(self, text: &str, placeholder: &'static str) -> Self {
        let is_as_shown = matches!(line(text), Cow::Borrowed(_));
        let is_shown = is_as_shown && !text.contains(['`', '\'']) && !text.starts_with('-');
        match text {
            _ if !is_shown => self.word(placeholder),
            plain if !plain.is_empty() && plain.bytes().all(is_plain) => self.word(plain),
            other => self.word(&format!("'{other}'")),
        }
    }

    fn word(mut self, word: &str) -> Self {
        self.0.push(' ');
        self.0.push_str(word);
        self
    }
}

impl Display for ShellCommand {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "`{}`", self.0)
    }
}

/// A name within a hint's text. A backtick in it would end the quotation, and what follows would look like a command of ours.
pub(super) fn shown(name: &str) -> Cow<'_, str> {
    if name.contains('`') { Cow::Owned(name.replace('`', "'")) } else { Cow::Borrowed(name) }
}

/// Whether no shell gives the byte a meaning. PowerShell makes a list of `a,b`, and expands `@a` and `~`.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./:=+%".contains(&byte)
}

fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = part.as_bytes();
        is_end(bytes.first())
            && is_end(bytes.last())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    text.len() <= 2 * MAX_NAME && text.split('/').count() <= 2 && text.split('/').all(is_part)
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
