//! Genuine pins, ids and tokens, signed with the keys of the proxies.

use std::time::SystemTime;

use assignment::Identity;
use assignment::contract::{ContractError, RingKey};
use assignment::seal::{KeyRing, Seal};

/// Signs for one release.
#[derive(Debug)]
pub struct Signer {
    ring: KeyRing,
    uid: String,
}

/// Any identity will do: only the signature matters.
const SOMEBODY: Identity = Identity::from_random(0x0123_4567_89ab_cdef);

impl Signer {
    /// Signs with these keys for the release with this uid.
    pub fn new(keys: &[RingKey], uid: &str) -> Result<Self, ContractError> {
        Ok(Self { ring: KeyRing::new(keys)?, uid: uid.to_owned() })
    }

    /// A pin, issued now.
    pub fn pin(&self, version: &str, epoch: u32) -> String {
        self.sign(&self.uid, &Seal::pin(version.as_bytes(), epoch, SOMEBODY, now_seconds()))
    }

    /// A minted id, issued now. It belongs to the host and to no release.
    pub fn id(&self) -> String {
        self.sign("", &Seal::id(SOMEBODY, now_seconds()))
    }

    /// A token, issued now, that expires in so many seconds; a negative number has passed.
    pub fn token(&self, version: &str, epoch: u32, life_seconds: i64) -> String {
        let (now, life) = (now_seconds(), life_seconds);
        // An expired token was issued before it expired.
        let issued = now.saturating_add_signed(life.min(0)).saturating_sub(u64::from(life < 0) * 60);
        self.sign(
            &self.uid,
            &Seal::token(version.as_bytes(), epoch, SOMEBODY, issued, now.saturating_add_signed(life)),
        )
    }

    fn sign(&self, uid: &str, seal: &Seal<'_>) -> String {
        // Only a ring without a signing key or a name that is too long yields none; a test would see it at once.
        self.ring.sign(uid, seal).unwrap_or_default()
    }
}

/// Seconds since 1970-01-01 UTC.
pub fn now_seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
