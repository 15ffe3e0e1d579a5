//! Which shell a command was written for, by what the others cannot mean.

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Posix,
    Cmd,
    PowerShell,
}

/// The context of a character, for a POSIX shell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    Single,
    Double,
}

impl Dialect {
    /// Commands that browsers copy for `cmd.exe` have a `^` before each quotation mark, or before `%` and `"` in them, or double quotation marks; a
    /// backtick is PowerShell's, since what a POSIX shell does with it cannot be known here.
    pub(super) fn of(command: &str) -> Self {
        let mut place = Place::Plain;
        for (index, character) in command.char_indices() {
            let rest = command.get(index..).unwrap_or_default();
            let before = command.get(..index).unwrap_or_default();
            match (place, character) {
                (Place::Single, '\'') => place = Place::Plain,
                (Place::Single, _) => {}
                (_, '`') => return Self::PowerShell,
                (Place::Plain, '^') if !follows_word(rest) => return Self::Cmd,
                (Place::Double, '^') if rest.starts_with("^%") || rest.starts_with(r#"^\^""#) => {
                    return Self::Cmd;
                }
                (Place::Plain, '"') if doubled(before, rest) && !command.contains('\'') => return Self::Cmd,
                (Place::Plain, '\'') => place = Place::Single,
                (Place::Plain, '"') => place = Place::Double,
                (Place::Double, '"') if !before.ends_with('\\') => place = Place::Plain,
                _ => {}
            }
        }
        Self::Posix
    }
}

/// Whether a `^` is followed by a letter or a digit, which browsers do not escape.
fn follows_word(rest: &str) -> bool {
    rest.chars().nth(1).is_some_and(char::is_alphanumeric)
}

/// Whether a quotation mark opens directly after one that has closed: `"a""b"`, or `"a"%"b"`.
fn doubled(before: &str, rest: &str) -> bool {
    let goes_on = rest.chars().nth(1).is_some_and(|next| !next.is_ascii_whitespace());
    goes_on && (before.ends_with('"') || before.ends_with("\"%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_that_of_the_shell_whose_marks_it_has() {
        for (command, expected) in [
            ("curl 'https://h/a^b?x=%3D' -H 'x: ^\"`' --compressed", Dialect::Posix),
            (r#"curl "https://h/" -H "x: ^\d+$" -H "y: a^b""#, Dialect::Posix),
            (r#"curl "https://h/" -H "" -b "a=it's""#, Dialect::Posix),
            ("curl https://h/a^b", Dialect::Posix),
            (r#"curl ^"https://h/^""#, Dialect::Cmd),
            ("curl https://h/ ^\n -I", Dialect::Cmd),
            (r#"curl "https://h/" -H "Cookie: a=b^%^3D""#, Dialect::Cmd),
            (r#"curl "https://h/" --data-raw "{^\^"a^\^":1}""#, Dialect::Cmd),
            (r#"curl "https://h/" -H "x: ""1""""#, Dialect::Cmd),
            (r#"curl "https://h/?a="%"3D""#, Dialect::Cmd),
            ("curl.exe \"https://h/\" `\n -I", Dialect::PowerShell),
            ("curl.exe \"https://h/\" -b \"a=`\"1`\"\"", Dialect::PowerShell),
        ] {
            assert_eq!(Dialect::of(command), expected, "{command}");
        }
    }
}
