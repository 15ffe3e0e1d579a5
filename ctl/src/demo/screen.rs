//! Lines that stay, on stdout, and one line that changes, below them on a terminal.

use super::Error;
use crate::report::Printer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The terminal, or whatever takes its place.
pub struct Screen<'p> {
    printer: &'p mut Printer,
    live: ProgressBar,
}

impl<'p> Screen<'p> {
    /// A screen whose changing line is drawn only where stderr is a terminal.
    pub fn new(printer: &'p mut Printer) -> Self {
        let live = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        live.set_style(
            ProgressStyle::with_template("{spinner} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Self { printer, live }
    }

    /// A line that stays.
    pub(super) fn line(&mut self, text: &str) -> Result<(), Error> {
        let Self { printer, live } = self;
        live.suspend(|| printer.data(&format!("{text}\n"))).map_err(Error::from)
    }

    /// What the changing line says now.
    pub(super) fn live(&self, text: String) {
        self.live.set_message(text);
        self.live.tick();
    }

    /// Takes the changing line away.
    pub(super) fn still(&self) {
        self.live.finish_and_clear();
    }
}
