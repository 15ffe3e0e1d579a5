//! Whether the session of a pin is older than the rollout that runs.
//!
//! Sessions fail most with their first requests: they log in and miss caches. The canary has new sessions alone, so it is
//! compared with those that are new on stable. A pin's issue time does not tell them apart, since a renewal sets it to the
//! present. Its last bit does, where it lies within the rollout: even in the pin of a session that is older, odd in that of a
//! session that began meanwhile. For that it is put back by at most one second when a pin is written during a rollout.
//!
//! This is safe. The text of a pin has no new field, so every version of the filter reads it. Pins from before the rollout
//! are those of older sessions, whatever their last bit. The bit decides what is counted, never a version; the ages that
//! an issue time is compared with are hours, and it never gets ahead of a clock. Nobody can set it without the key.

use super::Release;

/// The age of a session, compared with the rollout that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAge {
    /// It began during the rollout. Also where none runs, and where it cannot be known.
    New,
    /// It is older than the rollout.
    Older,
}

impl Release {
    /// The age of the session whose pin has this issue time.
    pub const fn session_age(&self, issued: u64) -> SessionAge {
        let since = self.rollout_since_seconds;
        if since > 0 && (issued < since || issued.is_multiple_of(2)) {
            SessionAge::Older
        } else {
            SessionAge::New
        }
    }

    /// The issue time that the pin of a session keeps.
    pub fn marked_issue_time(&self, issued: u64, age: SessionAge) -> u64 {
        let since = self.rollout_since_seconds;
        if since == 0 || issued < since || self.session_age(issued) == age { issued } else { issued - 1 }
    }
}
