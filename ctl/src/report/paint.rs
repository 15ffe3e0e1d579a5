//! Terminal colours, if they are enabled.

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint(pub(super) bool);

const RESET: &str = "\u{1b}[0m";

impl Paint {
    /// Colours additions.
    pub fn green(self, text: &str) -> String {
        self.with("\u{1b}[32m", text)
    }

    /// Colours deletions and errors.
    pub fn red(self, text: &str) -> String {
        self.with("\u{1b}[31m", text)
    }

    /// Colours changes.
    pub fn yellow(self, text: &str) -> String {
        self.with("\u{1b}[33m", text)
    }

    fn with(self, colour: &str, text: &str) -> String {
        if self.0 { format!("{colour}{text}{RESET}") } else { text.to_owned() }
    }
}
