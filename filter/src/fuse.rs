//! The fuse of a release: a proxy that sees its canary fail, and stable not, sends new sessions to stable for a time.
//!
//! It opens when of at least [`MIN_RESPONSES`] responses of the canary within [`WINDOW_SECONDS`] half have failed, for at least
//! [`MIN_USERS`] users, while stable failed less than half as often. So one user who retries does not open it, nor a failure that both
//! versions share, nor testers, whose responses are counted apart. Without a response of stable nothing can be compared, and it
//! stays closed.
//!
//! A request without a response counts as a failed one ([`is_unanswered`]): Istio sets no timeout of a route, so a canary that hangs
//! has no status.
//!
//! While it is open no new session gets to the canary, and no session is moved: pins, cohorts and overrides go on. It closes
//! after [`FIRST_OPEN_SECONDS`]; each time that it opens again it stays open twice as long, up to [`MAX_OPEN_SECONDS`], until the
//! canary has gone through a window without failing.
//!
//! The workers of a proxy share it: one worker alone sees too few responses at a small weight.

use assignment::Identity;

/// The responses of the last so many seconds count. The windows do not overlap: that keeps the shared state small.
pub const WINDOW_SECONDS: u64 = 10;
/// The fewest responses of the canary that say something.
pub const MIN_RESPONSES: u64 = 20;
/// The fewest users whose responses have failed. 1 % of failed responses in runs of five of one user opened a fuse without this bound in
/// 98 of 100 simulated runs.
pub const MIN_USERS: u32 = 5;
/// The seconds after which a request that still has no response counts as a failed one.
pub const HANGING_SECONDS: u64 = 5;
/// The seconds after which one does whose client goes away. Less than [`HANGING_SECONDS`], for clients with short timeouts; more than the
/// second that the clock is behind, so that a page that is left at once says nothing.
pub const ABANDONED_SECONDS: u64 = 2;
/// How long it stays open the first time.
pub const FIRST_OPEN_SECONDS: u64 = 30;
/// How long it stays open at most.
pub const MAX_OPEN_SECONDS: u64 = 600;

/// Responses of both versions, testers' left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseCounts {
    /// The canary's.
    pub canary: u64,
    /// The canary's with a status of 500 and up, and its requests without a response.
    pub canary_failed: u64,
    /// Stable's.
    pub stable: u64,
    /// The same of stable.
    pub stable_failed: u64,
    /// The users of [`Self::canary_failed`], as a set of 64: [`user_bit`].
    pub failed_users: u64,
}

/// Whether a request without a response counts as failed, so long after it came. It does so once; for the ratio it is a response.
pub const fn is_unanswered(waited_seconds: u64, is_client_gone: bool) -> bool {
    waited_seconds >= if is_client_gone { ABANDONED_SECONDS } else { HANGING_SECONDS }
}

/// A user in [`ResponseCounts::failed_users`]. Two users may share a bit, so a set has at least as many users as bits.
pub const fn user_bit(identity: Identity) -> u64 {
    1 << (identity.as_u64() >> 58)
}

impl ResponseCounts {
    /// Whether the canary fails, and stable does not.
    fn is_failing(&self) -> bool {
        self.canary >= MIN_RESPONSES
            && 2 * self.canary_failed >= self.canary
            && self.failed_users.count_ones() >= MIN_USERS
            && 2 * self.stable_failed * self.canary < self.canary_failed * self.stable
    }

    fn add(&mut self, more: &Self) {
        self.canary += more.canary;
        self.canary_failed += more.canary_failed;
        self.stable += more.stable;
        self.stable_failed += more.stable_failed;
        self.failed_users |= more.failed_users;
    }
}

/// The state of a fuse, as the workers of a proxy share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fuse {
    /// The number of the window that `counts` are of.
    window: u64,
    counts: ResponseCounts,
    /// How often it has opened since the canary was last well.
    opened: u64,
    /// The second at which it closes, or has closed; 0: it never opened.
    pub open_until_seconds: u64,
}

impl Fuse {
    /// The bytes of [`Self::to_bytes`].
    pub const LEN: usize = 8 * Self::NUMBERS;
    const NUMBERS: usize = 8;

    /// Adds what a worker has counted. Returns whether the fuse has opened by it.
    pub fn add(&mut self, more: &ResponseCounts, now_seconds: u64) -> bool {
        let is_open = now_seconds < self.open_until_seconds;
        let window = now_seconds / WINDOW_SECONDS;
        // A worker whose clock is a moment behind counts for the window that has begun.
        if window > self.window {
            if self.counts.canary >= MIN_RESPONSES && !is_open && !self.counts.is_failing() {
                self.opened = 0;
            }
            self.window = window;
            self.counts = ResponseCounts::default();
        }
        self.counts.add(more);
        if is_open || !self.counts.is_failing() {
            return false;
        }
        let open_seconds = (FIRST_OPEN_SECONDS << self.opened.min(5)).min(MAX_OPEN_SECONDS);
        self.opened += 1;
        self.open_until_seconds = now_seconds + open_seconds;
        true
    }

    /// The state in the form in which it is shared: little-endian numbers.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let Self { window, counts, opened, open_until_seconds } = *self;
        let ResponseCounts { canary, canary_failed, stable, stable_failed, failed_users } = counts;
        let numbers: [u64; Self::NUMBERS] =
            [window, canary, canary_failed, stable, stable_failed, failed_users, opened, open_until_seconds];
        let mut bytes = [0; Self::LEN];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The inverse of [`Self::to_bytes`]. What is missing is 0: a fuse that nobody has shared yet is closed.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = [0; Self::NUMBERS];
        for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        }
        let [window, canary, canary_failed, stable, stable_failed, failed_users, opened, open_until_seconds] =
            numbers;
        let counts = ResponseCounts { canary, canary_failed, stable, stable_failed, failed_users };
        Self { window, counts, opened, open_until_seconds }
    }
}

#[cfg(test)]
#[path = "fuse_tests.rs"]
mod tests;
