//! A version that gets all users with too few ready pods for them.

use crate::format::counted;
use serde::Serialize;
use std::fmt;

/// A canary with less than half of the pods that serve all users now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Undersized {
    /// The version that gets all users.
    pub version: String,
    /// Its ready pods.
    pub ready: usize,
    /// The ready pods that it should have.
    pub expected: usize,
    /// The pods that serve all users now.
    pub serving: usize,
}

impl Undersized {
    /// `None` if it has at least half of the pods that serve all users.
    pub(crate) fn of(version: &str, ready: usize, serving: usize) -> Option<Self> {
        let expected = serving.div_ceil(2);
        (ready < expected).then(|| Self { version: version.to_owned(), ready, expected, serving })
    }
}

impl fmt::Display for Undersized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, ready, expected, serving } = self;
        write!(
            f,
            "expected at least {} of version `{version}`, which gets all users, found {}: all users are served by {serving}",
            counted(*expected, "ready pod", "ready pods"),
            counted(*ready, "ready pod", "ready pods"),
        )
    }
}
