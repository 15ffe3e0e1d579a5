//! From a user to one of ten thousand buckets, and from a bucket to the canary.

use crate::{Identity, Weight};

/// The number of buckets. It never changes: a changing modulus would reshuffle every user.
pub const BUCKETS: u16 = 10_000;

/// A user's position in one release, `0..BUCKETS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(u16);

impl Bucket {
    /// The bucket's number.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Whether a user of this bucket belongs to the canary at this weight.
    ///
    /// The canary is the interval `[0, weight)`, so it grows and shrinks at one end only: that is what makes weight
    /// changes monotone.
    pub const fn is_canary_at(self, weight: Weight) -> bool {
        self.0 < weight.basis_points()
    }

    /// The smallest weight at which a user of this bucket is on the canary.
    pub const fn canary_from(self) -> u16 {
        self.0 + 1
    }
}

/// Makes the canary users of one release independent of those of another; its hash is computed once.
///
/// Releases of one train share a salt, so that front end and API agree on the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salt {
    seed: u32,
}

impl Salt {
    /// A salt from its text: `<namespace>/<name>/<canary version>` unless the release gives one.
    pub fn new(text: &str) -> Self {
        Self { seed: murmur3_32(text.as_bytes(), 0) }
    }

    /// The user's bucket: `murmur3_x86_32(identity as text, seed = murmur3_x86_32(salt, 0)) × 10 000 >> 32`.
    pub fn bucket(self, identity: Identity) -> Bucket {
        let hash = murmur3_32(&identity.to_hex(), self.seed);
        let scaled = (u64::from(hash) * u64::from(BUCKETS)) >> 32;
        Bucket(u16::try_from(scaled).unwrap_or(BUCKETS - 1))
    }
}

pub(crate) fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    // The hash reads from memory; its only error is the reader's, which a slice has none of.
    murmur3::murmur3_32(&mut &*bytes, seed).unwrap_or_default()
}
