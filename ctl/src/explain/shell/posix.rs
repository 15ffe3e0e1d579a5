//! Words of a command line as a POSIX shell reads them, with the `$'…'` that browsers use for odd characters.
//!
//! Own code because the libraries for this (`shlex`, `shell-words`) do not know `$'…'`, and a browser copies it as
//! soon as a cookie holds `!` or a line break.
//!
//! # Source
//! Bash manual §3.1.2 "Quoting"; POSIX.1-2024 XCU §2.2, which has taken up `$'…'`.

use super::ShellError;
use super::plain::{self, Plain};
use std::iter::Peekable;
use std::str::Chars;

/// The words, unquoted. What a shell would replace is refused: its value is not known here.
pub(super) fn words(command: &str) -> Result<Vec<String>, ShellError> {
    let mut reader = Reader { rest: command.chars().peekable(), word: None, words: Vec::new() };
    while let Some(next) = reader.rest.next() {
        reader.take(next)?;
    }
    reader.end_word();
    Ok(reader.words)
}

struct Reader<'c> {
    rest: Peekable<Chars<'c>>,
    /// The word so far; `''` is an empty word, `None` is no word.
    word: Option<String>,
    words: Vec<String>,
}

impl Reader<'_> {
    fn take(&mut self, next: char) -> Result<(), ShellError> {
        match next {
            '\'' => self.plain_quotes(),
            '"' => self.double_quotes(),
            '$' if self.rest.next_if_eq(&'\'').is_some() => self.dollar_quotes(),
            '$' => self.dollar(),
            '\\' => {
                match self.rest.next() {
                    None => return Err(ShellError::Continues('\\')),
                    Some('\n') => {}
                    Some('\r') if self.rest.next_if_eq(&'\n').is_some() => {}
                    Some(kept) => self.push(kept),
                }
                Ok(())
            }
            other => {
                match plain::read(other)? {
                    Plain::Space => self.end_word(),
                    Plain::Character => self.push(other),
                }
                Ok(())
            }
        }
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    /// A `$` that begins no variable stays as it is.
    fn dollar(&mut self) -> Result<(), ShellError> {
        let is_named = |next: &char| next.is_ascii_alphanumeric() || matches!(next, '_' | '{' | '}' | '(');
        let name: String = self.rest.clone().take_while(is_named).collect();
        if name.starts_with(|first: char| !first.is_ascii_digit() && first != '}') {
            return Err(ShellError::Variable(name));
        }
        self.push('$');
        Ok(())
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn plain_quotes(&mut self) -> Result<(), ShellError> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(ShellError::Unclosed("`'`"))? {
                '\'' => return Ok(()),
                inside => self.push(inside),
            }
        }
    }

    fn double_quotes(&mut self) -> Result<(), ShellError> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(ShellError::Unclosed("`\"`"))? {
                '"' => return Ok(()),
                '\\' => match self.rest.next().ok_or(ShellError::Unclosed("`\"`"))? {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => self.push(escaped),
                    other => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                '$' => self.dollar()?,
                inside => self.push(inside),
            }
        }
    }

    fn dollar_quotes(&mut self) -> Result<(), ShellError> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(ShellError::Unclosed("`'` of a `$'`"))? {
                '\'' => return Ok(()),
                '\\' => {
                    let escape = self.rest.next().ok_or(ShellError::Unclosed("`'` of a `$'`"))?;
                    self.escape(escape)?;
                }
                inside => self.push(inside),
            }
        }
    }

    fn escape(&mut self, escape: char) -> Result<(), ShellError> {
        let character = match escape {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => self.number(escape, 16, 2, 0)?,
            'u' => self.number(escape, 16, 4, 0)?,
            'U' => self.number(escape, 16, 8, 0)?,
            '0'..='7' => self.number(escape, 8, 2, escape.to_digit(8).unwrap_or_default())?,
            quoted @ ('\\' | '\'' | '"' | '?') => quoted,
            other => {
                self.push('\\');
                other
            }
        };
        self.push(character);
        Ok(())
    }

    fn number(&mut self, escape: char, radix: u32, longest: usize, start: u32) -> Result<char, ShellError> {
        let (mut number, mut length) = (start, 0);
        while length < longest
            && let Some(digit) = self.rest.peek().and_then(|character| character.to_digit(radix))
        {
            number = number.wrapping_mul(radix).wrapping_add(digit);
            length += 1;
            self.rest.next();
        }
        if length == 0 && radix == 16 {
            return Err(ShellError::NotHex(escape));
        }
        char::from_u32(number).ok_or(ShellError::NotACharacter(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        // Each right side is what `printf '%s\n' …` prints in bash.
        for (command, expected) in [
            ("a b\tc\n d", vec!["a", "b", "c", "d"]),
            (r#"'a b' "c d"e\ f"#, vec!["a b", "c de f"]),
            (r#"'' "" a''"#, vec!["", "", "a"]),
            (r#"'a\b' "a\b" "a\"b\\\$""#, vec![r"a\b", r"a\b", r#"a"b\$"#]),
            ("one \\\n  two", vec!["one", "two"]),
            ("one \\\r\n  two", vec!["one", "two"]),
            (r"'it'\''s'", vec!["it's"]),
            (r"$'a\u0021b\n\x41\'\\\101'", vec!["a!b\nA'\\A"]),
            (r"$'\u00e4\U0001f375\q'", vec!["ä🍵\\q"]),
            ("'$HOME' \\$HOME \"\\$HOME\" 5$ \"a$\" $5", vec!["$HOME", "$HOME", "$HOME", "5$", "a$", "$5"]),
            ("", vec![]),
        ] {
            assert_eq!(words(command).unwrap(), expected, "{command}");
        }
    }

    #[test]
    fn an_open_quotation_mark_is_refused() {
        assert_eq!(words("a 'b").unwrap_err(), ShellError::Unclosed("`'`"));
        assert_eq!(words("a \"b\\\"").unwrap_err(), ShellError::Unclosed("`\"`"));
        let error = words("$'b\\'").unwrap_err().to_string();
        assert!(error.contains("`$'`"), "{error}");
    }

    #[test]
    fn what_a_shell_would_replace_is_refused_by_name() {
        for (command, expected) in [
            ("curl -b A=$SID h", "SID"),
            ("curl -b \"A=$SID; b\"", "SID"),
            ("curl -b \"A=${S_1}\"", "{S_1}"),
            ("curl -b A=$(cat", "(cat"),
        ] {
            assert_eq!(words(command).unwrap_err(), ShellError::Variable(expected.to_owned()), "{command}");
        }
    }

    #[test]
    fn an_escape_that_names_no_character_is_refused() {
        assert_eq!(words(r"$'\xg'").unwrap_err(), ShellError::NotHex('x'));
        assert_eq!(words(r"$'\ud800'").unwrap_err(), ShellError::NotACharacter(0xd800));
    }
}
