//! The requests of the last minutes. Proxies count and keep no times, so a window is between two observations.

use crate::metrics::Traffic;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The longest window while it is watched.
const MAX_WINDOW: Duration = Duration::from_mins(5);

/// Observations of the counters, the oldest first.
#[derive(Debug, Default)]
pub struct TrafficWindow {
    observations: VecDeque<(Instant, Traffic)>,
}

/// The requests between the first observation and the last.
#[derive(Clone, Debug, Default)]
pub struct WindowTraffic {
    /// The requests.
    pub traffic: Traffic,
    /// The time between both.
    pub time: Duration,
    /// The counters of the proxies since they started.
    pub total: Traffic,
}

impl TrafficWindow {
    /// Adds an observation. Those older than five minutes go, but for the last of them, from which on is counted.
    pub fn add(&mut self, at: Instant, traffic: Traffic) {
        self.observations.push_back((at, traffic));
        while self.observations.get(1).is_some_and(|(second, _)| at.duration_since(*second) >= MAX_WINDOW) {
            self.observations.pop_front();
        }
    }

    /// Begins again: requests under another configuration do not count.
    pub fn clear(&mut self) {
        self.observations.clear();
    }

    /// When it began; `None` before the first observation, and where no proxy reported anything to it: further ones would
    /// have nothing to compare with.
    pub fn begun(&self) -> Option<Instant> {
        let (begun, traffic) = self.observations.front()?;
        (!traffic.is_empty()).then_some(*begun)
    }

    /// The requests in the window; `None` before the second observation.
    pub fn traffic(&self) -> Option<WindowTraffic> {
        let ((first, earlier), (last, later)) = (self.observations.front()?, self.observations.back()?);
        let time = last.duration_since(*first);
        (time > Duration::ZERO).then(|| WindowTraffic {
            traffic: later.since(earlier),
            time,
            total: later.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_needs_two_observations_and_reaches_back_five_minutes() {
        let (mut window, start) = (TrafficWindow::default(), Instant::now());
        window.add(start, Traffic::default());
        let traffic = window.traffic();
        assert!(traffic.is_none(), "{traffic:?}");
        for seconds in (2..=600).step_by(2) {
            window.add(start + Duration::from_secs(seconds), Traffic::default());
        }
        assert_eq!(window.traffic().unwrap().time, MAX_WINDOW);
        window.clear();
        assert_eq!(window.begun(), None);
    }
}
