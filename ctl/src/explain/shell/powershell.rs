//! Words of a command line of PowerShell.
//!
//! # Source
//! Microsoft: `about_Quoting_Rules`, `about_Special_Characters`.

use super::ShellError;
use super::plain::{self, Plain};
use std::iter::Peekable;
use std::str::Chars;

/// The words, unquoted; variables stay as they are.
pub(super) fn words(command: &str) -> Result<Vec<String>, ShellError> {
    let mut rest = command.chars().peekable();
    let (mut words, mut word) = (Vec::new(), None::<String>);
    while let Some(next) = rest.next() {
        match next {
            quote @ ('"' | '\'') => quoted(&mut rest, quote, word.get_or_insert_default())?,
            '`' => escaped(&mut rest, &mut word)?,
            other => match plain::read(other)? {
                Plain::Space => words.extend(word.take()),
                Plain::Character => word.get_or_insert_default().push(other),
            },
        }
    }
    words.extend(word);
    Ok(words)
}

/// A backtick outside quotation marks: it joins lines, or keeps a character.
fn escaped(rest: &mut Peekable<Chars<'_>>, word: &mut Option<String>) -> Result<(), ShellError> {
    let after = rest.next();
    let is_break = after == Some('\n') || after == Some('\r') && rest.next_if_eq(&'\n').is_some();
    match after {
        None => Err(ShellError::Continues('`')),
        Some(_) if is_break && rest.peek().is_none() => Err(ShellError::Continues('`')),
        Some(_) if is_break => Ok(()),
        Some(kept) => {
            word.get_or_insert_default().push(kept);
            Ok(())
        }
    }
}

/// A quotation mark in itself is doubled; in double ones a backtick escapes too.
fn quoted(rest: &mut Peekable<Chars<'_>>, quote: char, word: &mut String) -> Result<(), ShellError> {
    let unclosed = || ShellError::Unclosed(if quote == '"' { "`\"`" } else { "`'`" });
    loop {
        match rest.next().ok_or_else(unclosed)? {
            end if end == quote => {
                if rest.next_if_eq(&quote).is_none() {
                    return Ok(());
                }
                word.push(quote);
            }
            '`' if quote == '"' => word.push(match rest.next().ok_or_else(unclosed)? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                kept => kept,
            }),
            inside => word.push(inside),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_powershell() {
        for (command, expected) in [
            ("curl.exe \"https://h/\" `\r\n  -I", vec!["curl.exe", "https://h/", "-I"]),
            ("-b \"a=`\"1`\"; b=\"\"2\"\"\"", vec!["-b", "a=\"1\"; b=\"2\""]),
            ("'it''s' a`&b \"c\\d%3D^\"", vec!["it's", "a&b", "c\\d%3D^"]),
        ] {
            assert_eq!(words(command).unwrap(), expected, "{command}");
        }
        assert_eq!(words("curl.exe h `").unwrap_err(), ShellError::Continues('`'));
        assert_eq!(words("curl.exe \"h").unwrap_err(), ShellError::Unclosed("`\"`"));
    }
}
