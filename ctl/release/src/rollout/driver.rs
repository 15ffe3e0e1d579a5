//! The process that drives a rollout, as the record names it.

use super::Rollout;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A driver that has nothing else to write writes that it drives, this often.
const SEEN_AGAIN: SignedDuration = SignedDuration::from_mins(1);
/// A driver that was not seen for so long has ended: the time of its longest wait for proxies, and a write.
pub const DRIVER_TIMEOUT: SignedDuration = SignedDuration::from_mins(3);

/// A kind of driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DriverKind {
    /// The controller of the cluster.
    Controller,
    /// A command in a terminal, in CI, or in a Job.
    Command,
}

/// The driver of a rollout that wrote last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Driver {
    /// Its kind.
    pub kind: DriverKind,
    /// Its pod or its host.
    pub host: String,
    /// Since when it drives.
    pub since: Timestamp,
    /// When it wrote last, by its clock.
    pub seen_at: Timestamp,
}

impl Rollout {
    /// Names its driver, as long as it goes on. Whether that has to be written without another change: another one has driven, or
    /// this one was not seen for a minute.
    pub fn note_driver(&mut self, kind: DriverKind, host: &str, now: Timestamp) -> bool {
        if !self.is_active() {
            return false;
        }
        let before = self.driver.take().filter(|before| (before.kind, before.host.as_str()) == (kind, host));
        let (since, seen_at) = before.map_or((now, None), |before| (before.since, Some(before.seen_at)));
        self.driver = Some(Driver { kind, host: host.to_owned(), since, seen_at: now });
        seen_at.is_none_or(|seen_at| now.duration_since(seen_at).abs() >= SEEN_AGAIN)
    }
}

impl fmt::Display for DriverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Controller => "the controller",
            Self::Command => "a command",
        })
    }
}

impl fmt::Display for Driver {
    /// `the controller (canary-controller-0) since 2026-11-21T14:00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, host, since, .. } = self;
        write!(f, "{kind} ({host}) since {}", since.strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}
