//! The counters of the proxies over the simulated responses, as an observation finds them.

use canary_release::evidence::ReleaseCounters;
use std::collections::VecDeque;

/// Seconds between two observations.
pub const INTERVAL: u32 = 10;
/// The number of proxies.
pub(crate) const PROXIES: u8 = 2;
/// No response takes longer than that many observations.
const MAX_INTERVALS: usize = 16;
const KINDS: usize = 7;
/// As a part of the number of a cell.
const GROUPS_OF_CELL: u8 = 16;
const CELLS: usize = PROXIES as usize * 2 * GROUPS_OF_CELL as usize;

/// Some of the counters, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted(u8);

impl Counted {
    pub(crate) const REQUEST: Self = Self(1);
    pub(crate) const RESPONSE: Self = Self(2);
    pub(crate) const SERVER_ERROR: Self = Self(4);
    pub(crate) const CLIENT_ERROR: Self = Self(8);
    pub(crate) const SLOW: Self = Self(16);
    pub(crate) const UNANSWERED: Self = Self(32);
    pub(crate) const LOST_SESSION: Self = Self(64);

    /// Both, where the second one is so.
    pub(crate) const fn and(self, other: Self, is_so: bool) -> Self {
        if is_so { Self(self.0 | other.0) } else { self }
    }
}

/// One version in one proxy for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell(u8);

impl Cell {
    pub(crate) const fn new(proxy: u8, is_canary: bool, group: u8) -> Self {
        Self((proxy * 2 + is_canary as u8) * GROUPS_OF_CELL + group)
    }
}

/// All counters, and what will be counted after the next observation.
#[derive(Clone, Debug)]
pub(crate) struct CounterTable {
    counts: Vec<[u64; KINDS]>,
    later: VecDeque<Vec<(Cell, Counted)>>,
    next_observation: f64,
}

impl CounterTable {
    pub(crate) fn new() -> Self {
        Self {
            counts: vec![[0; KINDS]; CELLS],
            later: (0..MAX_INTERVALS).map(|_| Vec::new()).collect(),
            next_observation: 0.0,
        }
    }

    /// Counts something at a time that is not before the last observation.
    pub(crate) fn count(&mut self, cell: Cell, counted: Counted, at: f64) {
        if at < self.next_observation {
            return self.add(cell, counted);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some intervals ahead")]
        let intervals = ((at - self.next_observation) / f64::from(INTERVAL)) as usize;
        if let Some(later) = self.later.get_mut(intervals.min(MAX_INTERVALS - 1)) {
            later.push((cell, counted));
        }
    }

    fn add(&mut self, cell: Cell, counted: Counted) {
        let Some(counts) = self.counts.get_mut(usize::from(cell.0)) else { return };
        for (bit, count) in counts.iter_mut().enumerate() {
            *count += u64::from(counted.0 >> bit & 1);
        }
    }

    /// The counters until now are observed; what comes next is counted for the next observation.
    pub(crate) fn end_interval(&mut self) {
        self.next_observation += f64::from(INTERVAL);
        let mut due = self.later.pop_front().unwrap_or_default();
        for (cell, counted) in due.drain(..) {
            self.add(cell, counted);
        }
        self.later.push_back(due);
    }

    /// The counters of a version in a proxy.
    pub(crate) fn of(&self, proxy: u8, is_canary: bool) -> ReleaseCounters {
        let first = usize::from(Cell::new(proxy, is_canary, 0).0);
        let counts = |kind: usize| {
            std::array::from_fn(|group| {
                self.counts
                    .get(first + group)
                    .and_then(|counts| counts.get(kind))
                    .copied()
                    .unwrap_or_default()
            })
        };
        ReleaseCounters {
            requests: counts(0),
            responses: counts(1),
            server_errors: counts(2),
            client_errors: counts(3),
            slow_responses: counts(4),
            unanswered: counts(5),
            lost_sessions: counts(6),
            emptied_sessions: counts(6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_after_an_observation_is_counted_by_the_next() {
        let mut table = CounterTable::new();
        table.end_interval();
        let failed = Counted::RESPONSE.and(Counted::SERVER_ERROR, true).and(Counted::SLOW, false);
        table.count(Cell::new(1, true, 3), Counted::REQUEST, 9.5);
        table.count(Cell::new(1, true, 3), failed, 10.5);
        let found = table.of(1, true);
        assert_eq!((found.requests[3], found.responses[3]), (1, 0));
        table.end_interval();
        let found = table.of(1, true);
        assert_eq!((found.responses[3], found.server_errors[3], found.slow_responses[3]), (1, 1, 0));
        assert_eq!(table.of(0, true), ReleaseCounters::default(), "another proxy");
        assert_eq!(table.of(1, false), ReleaseCounters::default(), "the other version");
    }
}
