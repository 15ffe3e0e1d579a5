//! What the edge says of a request of a train besides its role: how it is counted in the next services.

/// A mark of the edge's decision, in the cohort header (`autumn=canary;new`) and, as a number, in baggage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CohortMark {
    /// A tester's request: counted apart, like at the edge.
    Override,
    /// A request that the edge counts by user group: a rollout runs there, and the session is not older than it.
    New,
}

impl CohortMark {
    /// The text in the cohort header.
    pub const fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Override => b"override",
            Self::New => b"new",
        }
    }

    /// The number in baggage. A module that is older than [`Self::New`] reads each number but 0 as [`Self::Override`]: it counts such
    /// requests as testers'.
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::Override => 1,
            Self::New => 2,
        }
    }
}
