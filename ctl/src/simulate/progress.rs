//! A bar on the terminal, for inputs that take long enough to wonder.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// A bar that appears after this time: shorter runs need none.
const APPEARS_AFTER: Duration = Duration::from_secs(2);

/// The progress of the reading.
pub struct Progress {
    state: State,
}

enum State {
    Hidden,
    WaitOptions { since: Instant, read: u64, total: Option<u64> },
    Shown(ProgressBar),
}

impl Progress {
    /// No progress bar, for input without a terminal.
    pub const fn hidden() -> Self {
        Self { state: State::Hidden }
    }

    /// A bar on stderr, once it is worth one. `total` in bytes, where the input has a length.
    pub fn on_terminal(total: Option<u64>) -> Self {
        Self { state: State::WaitOptions { since: Instant::now(), read: 0, total } }
    }

    /// This many bytes more were read.
    pub(super) fn advance(&mut self, bytes: u64) {
        match &mut self.state {
            State::Hidden => {}
            State::Shown(bar) => bar.inc(bytes),
            State::WaitOptions { since, read, total } => {
                *read += bytes;
                if since.elapsed() >= APPEARS_AFTER {
                    self.state = State::Shown(bar(*read, *total));
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let State::Shown(bar) = &self.state {
            bar.finish_and_clear();
        }
    }
}

fn bar(read: u64, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => {
            (ProgressBar::new(total), "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
        }
        None => (ProgressBar::no_length(), "{spinner} {bytes}, {bytes_per_sec}"),
    };
    // Draws at most 20 times a second, and by itself nothing if stderr is no terminal.
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_position(read);
    bar
}
