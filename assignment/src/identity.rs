//! A user's identity: 64 bits from which the key cannot be recovered.

use crate::hmac::HmacKey;
use std::fmt;
use std::str::FromStr;

/// Writes two lower-case hexadecimal digits for each byte.
pub(crate) fn write_hex(digits: &mut [u8], bytes: &[u8]) {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
    }
}

/// A user, as the first 64 bits of a hash of the key that names them (a session id, a user id).
///
/// Half of a 128-bit hash is propagated between services, so a *random* session id cannot be recovered from it. A key
/// that names a person can be found by dictionary; [`Identity::of_key_with`] is for those.
///
/// # Shape
/// On the wire 16 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(u64);

impl Identity {
    /// The number of digits on the wire.
    pub const TEXT_LEN: usize = 16;
    /// The number of user groups.
    pub const GROUPS: usize = 16;

    /// The identity of a key: `h1` of `MurmurHash3_x64_128(key, seed 0)`, read as a number.
    ///
    /// Python: `'%016x' % mmh3.hash64(key, 0, signed=False)[0]`.
    pub fn of_key(key: &[u8]) -> Self {
        // The hash reads from memory; its only error is the reader's, which a slice has none of.
        let hash = murmur3::murmur3_x64_128(&mut &*key, 0).unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "h1 is the low half of the crate's u128")]
        Self(hash as u64)
    }

    /// The identity of a key that names a person: the first 8 bytes of HMAC-SHA-256(`secret`, key), big-endian.
    pub fn of_key_with(secret: &IdentityKey, key: &[u8]) -> Self {
        Self(secret.0.tag(key).first_chunk().map_or(0, |first| u64::from_be_bytes(*first)))
    }

    /// An identity drawn at random by the caller, for a user who has no key yet.
    pub const fn from_random(bits: u64) -> Self {
        Self(bits)
    }

    /// The number itself.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The user group: the last hexadecimal digit. Responses are counted by it, so that a user who fails again and again
    /// is seen as one. A bucket depends on all digits and on the salt, so a group says nothing about the version.
    #[expect(clippy::cast_possible_truncation, reason = "four bits")]
    pub const fn group(self) -> usize {
        (self.0 % Self::GROUPS as u64) as usize
    }

    /// The 16 hexadecimal digits, without an allocation.
    pub fn to_hex(self) -> [u8; Self::TEXT_LEN] {
        let mut digits = [0; Self::TEXT_LEN];
        write_hex(&mut digits, &self.0.to_be_bytes());
        digits
    }

    /// Reads the 16 lower-case digits. Anything else is `None`: what we did not write, we do not read.
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        if text.len() != Self::TEXT_LEN {
            return None;
        }
        text.iter()
            .try_fold(0_u64, |number, digit| {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return None,
                };
                Some((number << 4) | u64::from(value))
            })
            .map(Self)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({self})")
    }
}

impl FromStr for Identity {
    type Err = NotAnIdentity;
    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        Self::from_hex(text.as_bytes()).ok_or_else(|| NotAnIdentity(text.to_owned()))
    }
}

/// The text is not 16 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an identity of 16 lower-case hexadecimal digits, found `{0}`")]
pub struct NotAnIdentity(String);

/// The secret that keeps personal keys from being found by dictionary, its HMAC pads computed once.
#[derive(Clone)]
pub struct IdentityKey(HmacKey);

impl IdentityKey {
    /// Prepares a secret of any length (HMAC accepts all; the contract requires at least 16 bytes).
    pub fn new(secret: &[u8]) -> Self {
        Self(HmacKey::new(secret))
    }
}

impl fmt::Debug for IdentityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentityKey(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_goes_there_and_back() {
        for bits in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            let identity = Identity::from_random(bits);
            assert_eq!(identity.to_hex().as_slice(), identity.to_string().as_bytes());
            assert_eq!(Identity::from_hex(&identity.to_hex()), Some(identity));
        }
    }

    #[test]
    fn only_sixteen_lower_case_digits_are_an_identity() {
        for text in ["", "0", "0123456789ABCDEF", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeg"]
        {
            assert_eq!(Identity::from_hex(text.as_bytes()), None, "{text}");
        }
    }
}
