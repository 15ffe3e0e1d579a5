//! Text for a terminal: whatever is written to it is escaped, and colours come from its own methods alone.

use super::escape;
use std::fmt::{self, Write as _};

/// A report's text, in colours if they are enabled.
#[derive(Clone, Debug, Default)]
pub struct PaintedText {
    text: String,
    is_coloured: bool,
}

const RESET: &str = "\u{1b}[0m";

impl PaintedText {
    /// An empty text.
    pub const fn new(is_coloured: bool) -> Self {
        Self { text: String::new(), is_coloured }
    }

    /// Writes an addition.
    ///
    /// # Errors
    ///
    /// If `text` cannot be formatted.
    pub fn green(&mut self, text: impl fmt::Display) -> fmt::Result {
        self.painted("\u{1b}[32m", text)
    }

    /// Writes a deletion or an error.
    ///
    /// # Errors
    ///
    /// If `text` cannot be formatted.
    pub fn red(&mut self, text: impl fmt::Display) -> fmt::Result {
        self.painted("\u{1b}[31m", text)
    }

    /// Writes a change.
    ///
    /// # Errors
    ///
    /// If `text` cannot be formatted.
    pub fn yellow(&mut self, text: impl fmt::Display) -> fmt::Result {
        self.painted("\u{1b}[33m", text)
    }

    /// The written text, escaped.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn painted(&mut self, colour: &str, text: impl fmt::Display) -> fmt::Result {
        if !self.is_coloured {
            return write!(self, "{text}");
        }
        self.text.push_str(colour);
        write!(self, "{text}")?;
        self.text.push_str(RESET);
        Ok(())
    }
}

impl fmt::Write for PaintedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(&escape::text(text));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_methods_and_none_of_a_value() {
        let said = |is_coloured| {
            let mut text = PaintedText::new(is_coloured);
            text.write_str("\u{1b}[31ma: ").unwrap();
            text.green("b\u{1b}[0m").unwrap();
            text.as_str().to_owned()
        };
        assert_eq!(said(false), "\\u{1b}[31ma: b\\u{1b}[0m");
        assert_eq!(said(true), "\\u{1b}[31ma: \u{1b}[32mb\\u{1b}[0m\u{1b}[0m");
    }
}
