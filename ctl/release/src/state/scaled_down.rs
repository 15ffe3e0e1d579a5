//! A version with too few ready pods for the users who come back to it.

use crate::format::counted;
use assignment::Weight;
use serde::Serialize;
use std::fmt;

/// A version that has been scaled down below what all users need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScaledDown {
    /// The version to which users come back.
    pub version: String,
    /// Its ready pods.
    pub ready: usize,
    /// The ready pods that it should have.
    pub expected: usize,
    /// The pods that serve all users now.
    pub serving: usize,
    /// The users who come back.
    pub returning: Weight,
}

impl ScaledDown {
    /// `None` if it has at least half of the pods that serve all users.
    pub(crate) fn of(version: &str, ready: usize, serving: usize, returning: Weight) -> Option<Self> {
        let expected = serving.div_ceil(2);
        (ready < expected).then(|| Self { version: version.to_owned(), ready, expected, serving, returning })
    }
}

impl fmt::Display for ScaledDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, ready, expected, serving, returning } = self;
        write!(
            f,
            "expected at least {} of version `{version}`, to which {returning} of the users would come back, found {}: all users are served by {serving}",
            counted(*expected, "ready pod", "ready pods"),
            counted(*ready, "ready pod", "ready pods"),
        )
    }
}
