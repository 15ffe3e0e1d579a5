//! The fuse of a release: a proxy that sees its canary fail, and stable not, sends new sessions to stable for a time.
//!
//! It counts by user. The share that fails is the mean, over the users of a version, of the share of each one's responses that have
//! failed. So a session counts as one user, by one request or by thousands: none opens the fuse of a canary that is well, and none
//! keeps that of a broken one closed by what the version serves it well, or by failures of stable.
//!
//! It opens when of at least [`MIN_RESPONSES`] responses of the canary within [`WINDOW_SECONDS`] this share is half, with failures of
//! at least [`MIN_USERS`] users, while that of stable is less than half as large. So one user who retries does not open it, nor a
//! failure that both versions share, nor testers, whose responses are counted apart. Without a response of stable nothing can be
//! compared, and it stays closed.
//!
//! A request without a response counts as a failed one ([`Waiting`]): Istio sets no timeout of a route, so a canary that hangs
//! has no status.
//!
//! While it is open no new session gets to the canary, and no session is moved: pins, cohorts and overrides go on. It closes
//! after [`FIRST_OPEN_SECONDS`]; each time that it opens again it stays open twice as long, up to [`MAX_OPEN_SECONDS`], until the
//! canary has gone through a window that says that it is well, by as many users and responses.
//!
//! The workers of a proxy share it: one worker alone sees too few responses at a small weight.

use assignment::{Decision, Identity, Reason};

/// The responses of the last so many seconds count. The windows do not overlap: that keeps the shared state small.
pub const WINDOW_SECONDS: u64 = 10;
/// The fewest responses of the canary that say something.
pub const MIN_RESPONSES: u32 = 20;
/// The fewest users whose responses have failed. 1 % of failed responses in runs of five of one user opened a fuse without this bound in
/// 98 of 100 simulated runs.
pub const MIN_USERS: u32 = 5;
/// The seconds, of those that a worker can vouch for, after which a request that still has no response counts as a failed one: four to
/// five seconds after it came.
pub const HANGING_SECONDS: u32 = 4;
/// The seconds after which one does whose client goes away: two to three seconds after it came. Less than for others, for clients with
/// short timeouts.
pub const ABANDONED_SECONDS: u32 = 2;
/// The time for which it is open first.
pub const FIRST_OPEN_SECONDS: u64 = 30;
/// The longest time for which it is open.
pub const MAX_OPEN_SECONDS: u64 = 600;

/// The number of users of a version that are distinguished. More of them share these places: the state must not grow with users.
const USERS: usize = 64;
/// A share of responses of 1, in [`Failures::shares`].
const WHOLE: u32 = 10_000;
const MILLISECONDS: u32 = 1_000;

/// The user of a request: its identity, unless that was drawn for this request alone. A client that keeps no cookies would be another
/// user with each request otherwise.
pub fn user_of(decision: &Decision) -> Option<Identity> {
    let is_drawn = match decision.reason {
        Reason::Fallback => decision.bucket.is_none(),
        Reason::Conflict => true,
        _ => false,
    };
    decision.identity.filter(|_| !is_drawn)
}

/// The wait of a request for its response.
///
/// A worker reads the clock once a second, at a tick. When a request came it knows by a second, and not at all after it was busy for
/// longer. So the wait is measured from the first tick after the request, and is never less than what counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// That it has no response says nothing, or not yet.
    #[default]
    Uncounted,
    /// It came after the last tick.
    New,
    /// The first tick after it came: the low half of the milliseconds since 1970-01-01 UTC, which is enough for differences and keeps
    /// what a stream needs small.
    Since(u32),
    /// It has been counted as one without a response; a late one does not count again.
    Unanswered,
}

impl Waiting {
    /// At a tick. Returns whether the request has to be counted as one without a response now.
    pub const fn tick(&mut self, now_milliseconds: u64) -> bool {
        match *self {
            Self::New => *self = Self::Since(low_half(now_milliseconds)),
            Self::Since(since) if has_passed(HANGING_SECONDS, since, now_milliseconds) => {
                *self = Self::Unanswered;
                return true;
            }
            _ => {}
        }
        false
    }

    /// When its client goes away. Returns whether the request has to be counted as one without a response. `now_milliseconds` is called
    /// only where it says something.
    pub fn client_gone(&mut self, now_milliseconds: impl FnOnce() -> u64) -> bool {
        let Self::Since(since) = *self else { return false };
        let is_unanswered = has_passed(ABANDONED_SECONDS, since, now_milliseconds());
        *self = if is_unanswered { Self::Unanswered } else { Self::Uncounted };
        is_unanswered
    }
}

#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
const fn low_half(milliseconds: u64) -> u32 {
    milliseconds as u32
}

/// Whether so many seconds have passed. A clock that was set back says that none have.
const fn has_passed(seconds: u32, since: u32, now_milliseconds: u64) -> bool {
    let passed = low_half(now_milliseconds).wrapping_sub(since);
    passed.cast_signed() >= 0 && passed >= seconds * MILLISECONDS
}

/// Responses of both versions, testers' left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseCounts {
    /// The canary's.
    pub canary: VersionCounts,
    /// Stable's.
    pub stable: VersionCounts,
}

/// Responses of one version by user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCounts {
    users: [UserCounts; USERS],
}

/// Responses to one user, or to several who share a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct UserCounts {
    responses: u16,
    /// Those with a status of 500 and up, and requests without a response.
    failed: u16,
}

/// The failures among the responses of a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Failures {
    responses: u32,
    users: u32,
    failed_users: u32,
    /// The sum of the failed shares of the users, each up to [`WHOLE`].
    shares: u32,
}

impl Default for VersionCounts {
    fn default() -> Self {
        Self { users: [UserCounts::default(); USERS] }
    }
}

impl VersionCounts {
    /// Counts a response, or a request without one. Two users may share a place, so there are at least as many users as places with
    /// responses. Requests without a user ([`user_of`]) have one place together.
    pub fn count(&mut self, user: Option<Identity>, has_failed: bool) {
        let place = user.map_or(0, |user| user.as_u64() >> (u64::BITS - USERS.ilog2()));
        let user = usize::try_from(place).ok().and_then(|place| self.users.get_mut(place));
        if let Some(user) = user {
            user.add(UserCounts { responses: 1, failed: has_failed.into() });
        }
    }

    fn add(&mut self, more: &Self) {
        for (user, more) in self.users.iter_mut().zip(&more.users).filter(|(_, more)| more.responses > 0) {
            user.add(*more);
        }
    }

    fn failures(&self) -> Failures {
        let mut sum = Failures::default();
        for user in self.users.iter().filter(|user| user.responses > 0) {
            sum.responses += u32::from(user.responses);
            sum.users += 1;
            // Nearly always none has failed.
            if user.failed > 0 {
                sum.failed_users += 1;
                sum.shares += user.share();
            }
        }
        sum
    }

    /// The bytes of [`Self::write`].
    const LEN: usize = USERS * size_of::<UserCounts>();

    fn write(&self, bytes: &mut [u8]) {
        for (place, user) in bytes.chunks_exact_mut(size_of::<UserCounts>()).zip(&self.users) {
            let number = u32::from(user.failed) << u16::BITS | u32::from(user.responses);
            place.copy_from_slice(&number.to_le_bytes());
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        for (user, bytes) in self.users.iter_mut().zip(bytes.chunks_exact(size_of::<UserCounts>())) {
            if let [a, b, c, d] = *bytes {
                user.responses = u16::from_le_bytes([a, b]);
                user.failed = u16::from_le_bytes([c, d]);
            }
        }
    }
}

impl UserCounts {
    /// A place whose numbers have come to their end says less than it could, of itself alone.
    const fn add(&mut self, more: Self) {
        self.responses = self.responses.saturating_add(more.responses);
        self.failed = self.failed.saturating_add(more.failed);
    }

    /// The share of its responses that have failed, rounded.
    fn share(self) -> u32 {
        let responses = u32::from(self.responses).max(1);
        (u32::from(self.failed) * WHOLE + responses / 2) / responses
    }
}

impl Failures {
    /// Whether there is enough to say that a version fails or does not.
    const fn is_enough(&self) -> bool {
        self.responses >= MIN_RESPONSES && self.users >= MIN_USERS
    }

    /// Whether half of what its users get has failed.
    const fn are_half(&self) -> bool {
        2 * self.shares >= self.users * WHOLE
    }
}

impl ResponseCounts {
    /// Whether the canary fails, and stable does not.
    fn is_failing(&self) -> bool {
        let canary = self.canary.failures();
        if !canary.is_enough() || canary.failed_users < MIN_USERS || !canary.are_half() {
            return false;
        }
        let stable = self.stable.failures();
        2 * stable.shares * canary.users < canary.shares * stable.users
    }

    fn is_canary_well(&self) -> bool {
        let canary = self.canary.failures();
        canary.is_enough() && !canary.are_half()
    }

    fn add(&mut self, more: &Self) {
        self.canary.add(&more.canary);
        self.stable.add(&more.stable);
    }
}

/// The state of a fuse, as the workers of a proxy share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fuse {
    /// The number of the window that `counts` are of.
    window: u64,
    counts: ResponseCounts,
    /// The number of times it has opened since the canary was last well.
    opened: u64,
    /// The second at which it closes, or has closed; 0: it never opened.
    pub open_until_seconds: u64,
}

impl Fuse {
    /// The bytes of [`Self::to_bytes`].
    pub const LEN: usize = Self::NUMBERS * size_of::<u64>() + 2 * VersionCounts::LEN;
    const NUMBERS: usize = 3;

    /// Adds what a worker has counted. Returns whether the fuse has opened by it.
    pub fn add(&mut self, more: &ResponseCounts, now_seconds: u64) -> bool {
        let is_open = now_seconds < self.open_until_seconds;
        let window = now_seconds / WINDOW_SECONDS;
        // A worker whose clock is a moment behind counts for the window that has begun.
        if window > self.window {
            if !is_open && self.counts.is_canary_well() {
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
        let mut bytes = [0; Self::LEN];
        let (numbers, users) = bytes.split_at_mut(Self::NUMBERS * size_of::<u64>());
        let all = [self.window, self.opened, self.open_until_seconds];
        for (place, number) in numbers.chunks_exact_mut(size_of::<u64>()).zip(all) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let (canary, stable) = users.split_at_mut(VersionCounts::LEN);
        self.counts.canary.write(canary);
        self.counts.stable.write(stable);
        bytes
    }

    /// The inverse of [`Self::to_bytes`]. What has another length is no such form: a fuse that nobody has shared yet is closed.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut fuse = Self::default();
        if bytes.len() != Self::LEN {
            return fuse;
        }
        let (numbers, users) = bytes.split_at(Self::NUMBERS * size_of::<u64>());
        let all = [&mut fuse.window, &mut fuse.opened, &mut fuse.open_until_seconds];
        for (number, bytes) in all.into_iter().zip(numbers.chunks_exact(size_of::<u64>())) {
            *number = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        }
        let (canary, stable) = users.split_at(VersionCounts::LEN);
        fuse.counts.canary.read(canary);
        fuse.counts.stable.read(stable);
        fuse
    }
}

#[cfg(test)]
#[path = "fuse_tests.rs"]
mod tests;
