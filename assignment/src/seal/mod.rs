//! Signed text: pins, minted ids and override tokens.
//!
//! ```text
//! p1.<key id>.<version>.<epoch>.<identity>.<issued>.<mac>              a pin
//! i1.<key id>..0.<identity>.<issued>.<mac>                             a minted id
//! t1.<key id>.<version>.<epoch>.<identity>.<issued>.<expires>.<mac>    an override token
//! b1.<key id>.<train>.<role>.<0|1|2>.<identity>.<issued>.<mac>         a decision for baggage; 1: a tester's, 2: a new session's
//! ```
//!
//! The MAC is HMAC-SHA-256, cut to 128 bits, over kind ‖ format ‖ release uid ‖ version ‖ epoch ‖ identity ‖ issued
//! [‖ expires], texts length-prefixed, numbers big-endian of fixed size. The kind is part of it, so a pin never verifies
//! as a token; no field selects an algorithm. With a uid and a version of up to 12 bytes each the message is at most
//! 55 bytes: two compressions on the hot path.

mod key_ring;
mod text;
mod verified_cache;

pub use key_ring::{KeyRing, baggage_keys};
pub use verified_cache::VerifiedCache;

use crate::{CohortMark, Identity};

/// The purpose of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keeps a session on the version that answered it.
    Pin,
    /// Identifies a user without a key.
    Id,
    /// Lets a tester choose a version.
    Token,
    /// Propagates the edge's decision to the next services.
    Baggage,
}

impl Kind {
    /// The first byte of the text, and the first byte under the MAC.
    const fn letter(self) -> u8 {
        match self {
            Self::Pin => b'p',
            Self::Id => b'i',
            Self::Token => b't',
            Self::Baggage => b'b',
        }
    }
}

/// The format digit of text and MAC.
const FORMAT: u8 = b'1';

/// The longest version name and uid that fit their length prefix and a label value.
pub const MAX_NAME_LEN: usize = 63;

/// The longest version field of a text: a version, or a train and a role.
pub(crate) const MAX_VERSION_LEN: usize = MAX_NAME_LEN + ".draining".len();

/// The longest text that is parsed, in bytes; no seal is longer.
pub const MAX_TEXT_LEN: usize = 256;

/// The content of a signed text. Only [`KeyRing::verify`] creates one from text, so a `Seal` that was read is genuine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal<'t> {
    /// Its purpose.
    pub kind: Kind,
    /// The version it names; empty for minted ids, `<train>.<role>` for baggage.
    pub version: &'t [u8],
    /// The version's epoch; 0 for minted ids; for baggage the number of its [`CohortMark`], 0 without one.
    pub epoch: u32,
    /// The user.
    pub identity: Identity,
    /// Seconds since 1970-01-01 UTC.
    pub issued: u64,
    /// Seconds since 1970-01-01 UTC; tokens only.
    pub expires: Option<u64>,
}

impl Seal<'_> {
    /// A pin for a session.
    pub const fn pin(version: &[u8], epoch: u32, identity: Identity, issued: u64) -> Seal<'_> {
        Seal { kind: Kind::Pin, version, epoch, identity, issued, expires: None }
    }

    /// A minted id.
    pub const fn id(identity: Identity, issued: u64) -> Seal<'static> {
        Seal { kind: Kind::Id, version: b"", epoch: 0, identity, issued, expires: None }
    }

    /// A decision for baggage: `cohort` is `<train>.<role>`.
    pub fn baggage(cohort: &[u8], mark: Option<CohortMark>, identity: Identity, issued: u64) -> Seal<'_> {
        let epoch = mark.map_or(0, CohortMark::number);
        Seal { kind: Kind::Baggage, version: cohort, epoch, identity, issued, expires: None }
    }

    /// An override token. `identity` is a random number that distinguishes tokens in logs.
    pub const fn token(
        version: &[u8],
        epoch: u32,
        identity: Identity,
        issued: u64,
        expires: u64,
    ) -> Seal<'_> {
        Seal { kind: Kind::Token, version, epoch, identity, issued, expires: Some(expires) }
    }
}
