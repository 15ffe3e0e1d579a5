//! The requests of the last moments: proxies count and keep no times, so it takes looks at two moments.

use crate::cluster::Traffic;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How far back a window reaches while it is watched.
const LONGEST: Duration = Duration::from_mins(5);

/// Looks at the counters, the oldest first.
#[derive(Debug, Default)]
pub(in crate::command::status) struct Window {
    looks: VecDeque<(Instant, Traffic)>,
}

/// What was counted between the first look and the last.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) traffic: Traffic,
    pub(super) time: Duration,
}

impl Window {
    /// Adds a look. Those that are too old go, but for the last of them, from which on is counted.
    pub(super) fn add(&mut self, at: Instant, traffic: Traffic) {
        self.looks.push_back((at, traffic));
        while self.looks.get(1).is_some_and(|(second, _)| at.duration_since(*second) >= LONGEST) {
            self.looks.pop_front();
        }
    }

    /// Begins anew: what was counted under another configuration says nothing about this one.
    pub(super) fn forget(&mut self) {
        self.looks.clear();
    }

    /// When it began; `None` before the first look, and where no proxy answered to it: there is nothing to wait for.
    pub(super) fn begun(&self) -> Option<Instant> {
        let (begun, traffic) = self.looks.front()?;
        (!traffic.is_nobodys()).then_some(*begun)
    }

    /// What was counted; `None` before the second look.
    pub(super) fn counted(&self) -> Option<Counted> {
        let ((first, earlier), (last, later)) = (self.looks.front()?, self.looks.back()?);
        let time = last.duration_since(*first);
        (time > Duration::ZERO).then(|| Counted { traffic: later.since(earlier), time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_needs_two_looks_and_reaches_back_five_minutes() {
        let (mut window, start) = (Window::default(), Instant::now());
        window.add(start, Traffic::default());
        assert!(window.counted().is_none());
        for seconds in (2..=600).step_by(2) {
            window.add(start + Duration::from_secs(seconds), Traffic::default());
        }
        assert_eq!(window.counted().unwrap().time, LONGEST);
        window.forget();
        assert!(window.begun().is_none());
    }
}
