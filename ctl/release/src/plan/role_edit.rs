//! The roles that an edit of the file changes, in users.

use crate::record::Record;
use assignment::contract::Role;
use jiff::Timestamp;
use std::fmt;

/// A version that gets another role, or leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleEdit {
    version: String,
    /// The role afterwards; `None` for a version that leaves.
    role: Option<Role>,
    /// Until when sessions finish on it.
    until: Option<Timestamp>,
}

impl RoleEdit {
    /// The versions of a record whose role is another one afterwards.
    pub fn between(before: &Record, after: &Record) -> Vec<Self> {
        let role = |name: &str| {
            let found = after.state.versions.iter().find(|version| version.name == name);
            found.map(|version| version.role)
        };
        let versions =
            before.state.versions.iter().filter(|version| role(&version.name) != Some(version.role));
        let edit = |version: &assignment::contract::VersionConfig| Self {
            version: version.name.clone(),
            role: role(&version.name),
            until: after.draining.get(&version.name).copied(),
        };
        versions.map(edit).collect()
    }
}

impl fmt::Display for RoleEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = &self.version;
        match (self.role, self.until) {
            (Some(Role::Stable), _) => {
                write!(f, "`{version}` becomes stable: every user without a session gets it")
            }
            (Some(Role::Canary), _) => write!(f, "`{version}` becomes the canary"),
            (Some(Role::Draining), Some(until)) => {
                write!(f, "`{version}` gets no new users; its sessions finish there until {until:.0}")
            }
            (Some(Role::Draining), None) => {
                write!(f, "`{version}` gets no new users; its sessions finish there")
            }
            (None, _) => write!(f, "`{version}` leaves: its users are on stable with their next request"),
        }
    }
}
