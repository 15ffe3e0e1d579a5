//! Whether the session of a pin is older than the step of the rollout that runs.
//!
//! Sessions fail most with their first requests: they log in and miss caches. When a step sends more users to the canary, many of its
//! sessions are new and nearly all of stable's are not, so sessions are compared with those of their own step alone. A pin's issue
//! time does not tell them apart, since a renewal sets it to the present. Its last bit does, where it lies within the step: even in
//! the pin of a session that is older, odd in that of a session that began meanwhile. For that it is put back by at most one second
//! when a pin is written during a rollout.
//!
//! A pin from before the step is one of an older session, whatever its last bit. So is one of the step's first seconds: proxies that
//! do not have the step yet mark sessions of the step before it as new. A session that begins in these seconds is left out with them,
//! of both versions alike.
//!
//! This is safe. The text of a pin has no new field, so every version of the filter reads it. The bit decides what is
//! counted, never a version; the ages that an issue time is compared with are hours, and it never gets ahead of a clock. Nobody can
//! set it without the key.

use super::Release;

/// The seconds in which a step reaches the proxies: a configuration takes one or two, and so may a proxy's clock.
const DELIVERY_SECONDS: u64 = 5;

/// The age of a session, compared with the step of the rollout that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAge {
    /// It began during the step. Also where no rollout runs, and where it cannot be known.
    New,
    /// It is older than the step.
    Older,
}

impl Release {
    /// The age of the session whose pin has this issue time.
    pub const fn session_age(&self, issued: u64) -> SessionAge {
        if self.rollout_since_seconds > 0 && (!self.is_of_step(issued) || issued.is_multiple_of(2)) {
            SessionAge::Older
        } else {
            SessionAge::New
        }
    }

    /// The issue time that the pin of a session keeps.
    pub fn marked_issue_time(&self, issued: u64, age: SessionAge) -> u64 {
        let is_unread = self.rollout_since_seconds == 0 || !self.is_of_step(issued);
        if is_unread || self.session_age(issued) == age { issued } else { issued.saturating_sub(1) }
    }

    /// Whether every proxy that has written a pin at this time knew of the step.
    const fn is_of_step(&self, issued: u64) -> bool {
        issued >= self.rollout_since_seconds.saturating_add(DELIVERY_SECONDS)
    }
}
