//! Words of a command line of `cmd.exe`, and of the program that it starts.
//!
//! # Source
//! Microsoft: "Command shell overview" (`^`), "Parsing C command-line arguments" (`"`, `\`); `escapeStringWin` of Chromium's and Firefox's
//! developer tools. Chrome has once written `^` within plain quotation marks, where `cmd.exe` keeps it: what is meant is the request that
//! the browser has sent, so it escapes there too.

use super::ShellError;
use super::plain::{self, Plain};

/// The words, unquoted.
pub(super) fn words(command: &str) -> Result<Vec<String>, ShellError> {
    let mut reader =
        Reader { rest: unescaped(command)?, at: 0, is_quoted: false, word: None, words: Vec::new() };
    while let Some((character, was_escaped)) = reader.next() {
        reader.take(character, was_escaped)?;
    }
    if reader.is_quoted {
        return Err(ShellError::Unclosed("`\"`"));
    }
    reader.words.extend(reader.word.take());
    Ok(reader.words)
}

/// The characters behind the carets, and whether each had one. A caret joins its line with the next; two line breaks after it are one
/// of the text.
fn unescaped(command: &str) -> Result<Vec<(char, bool)>, ShellError> {
    let mut characters = command.chars().filter(|character| *character != '\r').peekable();
    let mut found = Vec::new();
    while let Some(character) = characters.next() {
        if character != '^' {
            found.push((character, false));
            continue;
        }
        match characters.next() {
            None => return Err(ShellError::Continues('^')),
            Some('\n') if characters.peek().is_none() => return Err(ShellError::Continues('^')),
            Some('\n') if characters.next_if_eq(&'\n').is_some() => found.push(('\n', true)),
            Some('\n') => {}
            Some(escaped) => found.push((escaped, true)),
        }
    }
    Ok(found)
}

struct Reader {
    rest: Vec<(char, bool)>,
    at: usize,
    is_quoted: bool,
    word: Option<String>,
    words: Vec<String>,
}

impl Reader {
    fn next(&mut self) -> Option<(char, bool)> {
        let next = self.rest.get(self.at).copied();
        self.at += 1;
        next
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).map(|(character, _)| *character)
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn take(&mut self, character: char, was_escaped: bool) -> Result<(), ShellError> {
        match character {
            '\\' => self.backslashes(),
            '"' if self.is_quoted && self.peek() == Some('"') => {
                self.at += 1;
                self.push('"');
            }
            '"' => {
                self.is_quoted = !self.is_quoted;
                self.word.get_or_insert_default();
            }
            _ if self.is_quoted => self.push(character),
            // An operator with a caret is a character.
            '&' | '|' | '<' | '>' if was_escaped => self.push(character),
            _ => match plain::read(character)? {
                Plain::Space => self.words.extend(self.word.take()),
                Plain::Character => self.push(character),
            },
        }
        Ok(())
    }

    /// Backslashes before a quotation mark are half as many, and an odd one escapes it; elsewhere they are themselves.
    fn backslashes(&mut self) {
        let mut count = 1;
        while self.peek() == Some('\\') {
            self.at += 1;
            count += 1;
        }
        let before_quote = self.peek() == Some('"');
        for _ in 0..if before_quote { count / 2 } else { count } {
            self.push('\\');
        }
        if before_quote && count % 2 == 1 {
            self.at += 1;
            self.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_the_program_gets() {
        for (command, expected) in [
            (r#"curl ^"https://h/cart^" -b ^"a=b^""#, vec!["curl", "https://h/cart", "-b", "a=b"]),
            ("curl ^\r\n  -I ^\r\n  h", vec!["curl", "-I", "h"]),
            (r#"^"a=b^%^3D^""#, vec!["a=b%3D"]),
            (r#""a=b^%^3D""#, vec!["a=b%3D"]),
            (r#"^"x: ^\^"1^\^";v^""#, vec![r#"x: "1";v"#]),
            (r#"^"a^\^\b^" ^"c^\^\^\^"^""#, vec![r"a\\b", r#"c\""#]),
            ("^\"a^\n\nb^\"", vec!["a\nb"]),
            (r#""a""b" "c"%"d" """#, vec![r#"a"b"#, "c%d", ""]),
            (r#"^"https://h/?a=1^&b=^^2^" h^&i"#, vec!["https://h/?a=1&b=^2", "h&i"]),
        ] {
            assert_eq!(words(command).unwrap(), expected, "{command}");
        }
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        assert_eq!(words("curl ^\"h^\" ^").unwrap_err(), ShellError::Continues('^'));
        assert_eq!(words("curl ^\"h^\" ^\n").unwrap_err(), ShellError::Continues('^'));
        assert_eq!(words("curl ^\"h").unwrap_err(), ShellError::Unclosed("`\"`"));
        assert_eq!(words("curl ^\"h^\" & curl").unwrap_err(), ShellError::Operator('&'));
    }
}
