//! Characters outside quotation marks.

use super::ShellError;

/// The meaning of a character outside quotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// It ends a word.
    Space,
    /// It is part of a word.
    Character,
}

/// Reads one character.
///
/// # Errors
///
/// If a shell would end the command there, or the character is none that a person types into a shell.
pub(super) fn read(character: char) -> Result<Plain, ShellError> {
    match character {
        space if space.is_ascii_whitespace() => Ok(Plain::Space),
        '&' | '|' | ';' | '<' | '>' => Err(ShellError::Operator(character)),
        '\u{2018}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => Err(ShellError::Typographic(character)),
        space if space.is_whitespace() => Err(ShellError::Typographic(character)),
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => Err(ShellError::Typographic(character)),
        _ => Ok(Plain::Character),
    }
}
