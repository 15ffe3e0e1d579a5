//! Lines that stay, on stdout, and one line that changes, below them on a terminal.

use crate::error::Error;
use canary_ctl::report::Printer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The terminal, or a file or pipe in its place.
pub(crate) struct Screen<'p> {
    printer: &'p mut Printer,
    progress: ProgressBar,
}

impl<'p> Screen<'p> {
    /// A screen whose changing line is drawn only where stderr is a terminal.
    pub(crate) fn new(printer: &'p mut Printer) -> Self {
        let progress = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        progress.set_style(
            ProgressStyle::with_template("{spinner} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Self { printer, progress }
    }

    /// Prints a line that stays.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Error> {
        let Self { printer, progress } = self;
        progress.suspend(|| printer.data(&format!("{text}\n"))).map_err(Error::from)
    }

    /// Replaces the changing line.
    pub(crate) fn progress(&self, text: String) {
        self.progress.set_message(text);
        self.progress.tick();
    }

    /// Removes the changing line.
    pub(crate) fn clear_progress(&self) {
        self.progress.finish_and_clear();
    }
}
