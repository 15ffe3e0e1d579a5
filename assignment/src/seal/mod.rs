//! Signed text: pins, minted ids and override tokens.
//!
//! ```text
//! p1~<key id>~<version>~<epoch>~<identity>~<issued>~<mac>              a pin
//! i1~<key id>~~0~<identity>~<issued>~<mac>                             a minted id
//! t1~<key id>~<version>~<epoch>~<identity>~<issued>~<expires>~<mac>    an override token
//! b1~<key id>~<train>.<role>~<0|1>~<identity>~<issued>~<mac>           a decision that travels in baggage; 1: a tester's
//! ```
//!
//! The MAC is HMAC-SHA-256, cut to 128 bits, over kind ‖ format ‖ release uid ‖ version ‖ epoch ‖ identity ‖ issued
//! [‖ expires], texts length-prefixed, numbers big-endian of fixed size. The kind is part of it, so a pin never verifies
//! as a token; no field selects an algorithm. With a uid and a version of up to 12 bytes each the message is at most
//! 55 bytes: two compressions on the hot path.

mod remembered;
mod ring;
mod text;

pub use remembered::Remembered;
pub use ring::{Ring, carried_keys};

use crate::Identity;

/// What a seal is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keeps a session on the version that answered it.
    Pin,
    /// Names a user who has no key of their own.
    Id,
    /// Lets a tester choose a version.
    Token,
    /// Tells the next services what the edge decided.
    Carried,
}

impl Kind {
    /// The first byte of the text, and the first byte under the MAC.
    const fn letter(self) -> u8 {
        match self {
            Self::Pin => b'p',
            Self::Id => b'i',
            Self::Token => b't',
            Self::Carried => b'b',
        }
    }
}

/// The format digit of text and MAC.
const FORMAT: u8 = b'1';

/// The longest version name and uid that fit their length prefix and a label value.
pub const MAX_NAME_LEN: usize = 63;

/// The longest version field of a text: a version, or a train and a role.
pub(crate) const MAX_VERSION_LEN: usize = MAX_NAME_LEN + ".draining".len();

/// The longest text that is looked at: longer ones are nobody's.
pub const MAX_TEXT_LEN: usize = 256;

/// What a signed text says. Only [`Ring::verify`] makes one from text, so holding one means that it is genuine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal<'t> {
    /// What it is for.
    pub kind: Kind,
    /// The version it names; empty for minted ids, `<train>.<role>` for what travels.
    pub version: &'t [u8],
    /// The version's epoch; 0 for minted ids; for what travels 1 if a tester asked, else 0.
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

    /// A decision that travels: `cohort` is `<train>.<role>`.
    pub const fn carried(cohort: &[u8], is_override: bool, identity: Identity, issued: u64) -> Seal<'_> {
        Seal {
            kind: Kind::Carried,
            version: cohort,
            epoch: is_override as u32,
            identity,
            issued,
            expires: None,
        }
    }

    /// An override token. `identity` is a random number that tells tokens apart in logs.
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
