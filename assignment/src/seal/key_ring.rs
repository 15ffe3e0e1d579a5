//! The ring of keys that signs and verifies.

use super::text::{self, MAC_LEN};
use super::{Kind, MAX_TEXT_LEN, Seal};
use crate::contract::{ContractError, KeyUse, RingKey, Secret};
use crate::hmac::HmacKey;
use std::fmt;
use std::hint::black_box;

/// A ring of keys, the HMAC pads of each computed once.
#[derive(Clone, Default)]
pub struct KeyRing {
    keys: Vec<Key>,
    signer: Option<usize>,
}

#[derive(Clone)]
struct Key {
    id: String,
    hmac: HmacKey,
}

/// The text from which [`baggage_keys`] derives keys.
const BAGGAGE_DERIVATION: &[u8] = b"canary baggage";

/// The keys for decisions in baggage, derived from those of the edge: proxies inside the mesh get these, so that
/// reading their configuration is not enough to forge pins, ids or tokens.
pub fn baggage_keys(keys: &[RingKey]) -> Vec<RingKey> {
    let derive = |key: &RingKey| RingKey {
        id: key.id.clone(),
        key: Secret::new(HmacKey::new(key.key.expose()).tag(BAGGAGE_DERIVATION).to_vec()),
        usage: key.usage,
    };
    keys.iter().map(derive).collect()
}

impl KeyRing {
    /// Prepares the ring.
    ///
    /// # Errors
    /// On a key that is too short, on an invalid or repeated id, and on two signing keys. An empty ring is valid: it
    /// verifies nothing and signs nothing.
    pub fn new(keys: &[RingKey]) -> Result<Self, ContractError> {
        let mut ring = Self::default();
        for (index, key) in keys.iter().enumerate() {
            let place = format!("keys[{index}]");
            check_id(&key.id, &place)?;
            if ring.keys.iter().any(|other| other.id == key.id) {
                return Err(ContractError::invalid(place, format!("key id `{}` is used twice", key.id)));
            }
            if key.key.expose().len() < Secret::MIN_LEN {
                let (least, found) = (Secret::MIN_LEN, key.key.expose().len());
                return Err(ContractError::invalid(
                    place,
                    format!("expected at least {least} bytes, found {found}"),
                ));
            }
            if key.usage == KeyUse::Sign && ring.signer.replace(index).is_some() {
                return Err(ContractError::invalid(
                    place,
                    "expected one key with `use: sign`, found a second",
                ));
            }
            ring.keys.push(Key { id: key.id.clone(), hmac: HmacKey::new(key.key.expose()) });
        }
        Ok(ring)
    }

    /// Whether this ring can sign.
    pub const fn can_sign(&self) -> bool {
        self.signer.is_some()
    }

    /// Signs; `None` if no key signs, or if the seal could not be read back.
    pub fn sign(&self, release_uid: &str, seal: &Seal<'_>) -> Option<String> {
        let key = self.keys.get(self.signer?)?;
        let text = text::write(seal, &key.id, &key.mac(release_uid, seal)?);
        (text.len() <= MAX_TEXT_LEN).then_some(text)
    }

    /// Parses the text; `None` unless a key of this ring signed it for this kind and this release. Compares in constant
    /// time.
    ///
    /// Does not check ages: the decision handles expired pins and tokens.
    pub fn verify<'t>(&self, kind: Kind, release_uid: &str, text: &'t [u8]) -> Option<Seal<'t>> {
        let unverified = text::read(kind, text)?;
        let key = self.keys.iter().find(|key| key.id.as_bytes() == unverified.key_id)?;
        let mac = key.mac(release_uid, &unverified.seal)?;
        is_equal_in_constant_time(&mac, &unverified.mac).then_some(unverified.seal)
    }
}

impl Key {
    /// The MAC of a seal. Texts carry their length, so no two field lists make the same message.
    fn mac(&self, release_uid: &str, seal: &Seal<'_>) -> Option<[u8; MAC_LEN]> {
        let mut message = MessageBuffer::default();
        message.push(&[seal.kind.letter(), super::FORMAT])?;
        message.push_text(release_uid.as_bytes())?;
        message.push_text(seal.version)?;
        message.push(&seal.epoch.to_be_bytes())?;
        message.push(&seal.identity.as_u64().to_be_bytes())?;
        message.push(&seal.issued.to_be_bytes())?;
        if let Some(expires) = seal.expires {
            message.push(&expires.to_be_bytes())?;
        }
        self.hmac.tag(message.as_slice()).first_chunk().copied()
    }
}

/// Compares in a time that does not depend on the place of the first difference. Lengths are not secret.
pub(super) fn is_equal_in_constant_time(one: &[u8], other: &[u8]) -> bool {
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks(), other.as_chunks());
    let words = one.iter().zip(other).fold(0, |difference, (one, other)| {
        difference | (u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other))
    });
    let rest = one_rest.iter().zip(other_rest).fold(0, |difference, (one, other)| difference | (one ^ other));
    let is_of_one_length = one.len() == other.len() && one_rest.len() == other_rest.len();
    black_box(words | u64::from(rest)) == 0 && is_of_one_length
}

/// One contiguous message on the stack: a MAC over one slice is cheaper than over eight.
struct MessageBuffer {
    bytes: [u8; 192],
    len: usize,
}

impl Default for MessageBuffer {
    fn default() -> Self {
        Self { bytes: [0; 192], len: 0 }
    }
}

impl MessageBuffer {
    fn push(&mut self, part: &[u8]) -> Option<()> {
        let end = self.len.checked_add(part.len())?;
        self.bytes.get_mut(self.len..end)?.copy_from_slice(part);
        self.len = end;
        Some(())
    }

    fn push_text(&mut self, text: &[u8]) -> Option<()> {
        self.push(&[u8::try_from(text.len()).ok()?])?;
        self.push(text)
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

fn check_id(id: &str, place: &str) -> Result<(), ContractError> {
    let well_formed = (1..=16).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if well_formed {
        return Ok(());
    }
    Err(ContractError::invalid(place, format!("expected a key id of 1 to 16 of `a-z 0-9 -`, found `{id}`")))
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<&str> = self.keys.iter().map(|key| key.id.as_str()).collect();
        f.debug_struct("KeyRing").field("keys", &ids).field("signer", &self.signer).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    fn key(id: &str, byte: u8, usage: KeyUse) -> RingKey {
        RingKey { id: id.to_owned(), key: Secret::new(vec![byte; 32]), usage }
    }

    fn ring() -> KeyRing {
        KeyRing::new(&[key("k1", 1, KeyUse::Sign), key("k0", 0, KeyUse::Verify)]).unwrap()
    }

    const WHO: Identity = Identity::from_random(0x0123_4567_89ab_cdef);

    #[test]
    fn what_was_signed_is_read_back() {
        for seal in [
            Seal::pin(b"v1.2_a", 3, WHO, 1_700_000_000),
            Seal::id(WHO, 0),
            Seal::token(b"v2", u32::MAX, WHO, 1, u64::from(u32::MAX)),
        ] {
            let text = ring().sign("uid", &seal).unwrap();
            assert_eq!(ring().verify(seal.kind, "uid", text.as_bytes()), Some(seal), "{text}");
        }
    }

    #[test]
    fn a_seal_of_another_kind_release_or_key_does_not_verify() {
        let pin = ring().sign("uid", &Seal::pin(b"v2", 1, WHO, 5)).unwrap();
        assert_eq!(ring().verify(Kind::Id, "uid", pin.as_bytes()), None);
        assert_eq!(ring().verify(Kind::Pin, "uid2", pin.as_bytes()), None);
        let renamed = pin.replacen('p', "i", 1);
        assert_eq!(ring().verify(Kind::Id, "uid", renamed.as_bytes()), None);
        let other = KeyRing::new(&[key("k1", 2, KeyUse::Sign)]).unwrap();
        assert_eq!(other.verify(Kind::Pin, "uid", pin.as_bytes()), None);
    }

    #[test]
    fn no_edit_of_one_byte_verifies() {
        let text = ring().sign("uid", &Seal::token(b"v2", 1, WHO, 5, 9)).unwrap().into_bytes();
        for place in 0..text.len() {
            for bit in 0..8 {
                let mut edited = text.clone();
                edited[place] ^= 1 << bit;
                assert_eq!(ring().verify(Kind::Token, "uid", &edited), None, "byte {place} bit {bit}");
            }
        }
        for end in 0..text.len() {
            assert_eq!(ring().verify(Kind::Token, "uid", &text[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn a_retired_key_still_verifies_and_never_signs() {
        let before = KeyRing::new(&[key("k0", 0, KeyUse::Sign)]).unwrap();
        let text = before.sign("uid", &Seal::id(WHO, 7)).unwrap();
        assert_eq!(ring().verify(Kind::Id, "uid", text.as_bytes()), Some(Seal::id(WHO, 7)));
        let text = ring().sign("uid", &Seal::id(WHO, 7)).unwrap();
        assert!(text.starts_with("i1.k1."), "{text}");
    }

    #[test]
    fn a_ring_with_a_short_key_or_two_signers_is_refused() {
        let short = RingKey { id: "k".to_owned(), key: Secret::new(vec![0; 15]), usage: KeyUse::Verify };
        let error = KeyRing::new(&[short]).unwrap_err().to_string();
        assert!(error.contains("at least 16 bytes, found 15"), "{error}");
        KeyRing::new(&[key("a", 1, KeyUse::Sign), key("b", 2, KeyUse::Sign)]).unwrap_err();
        KeyRing::new(&[key("a", 1, KeyUse::Sign), key("a", 2, KeyUse::Verify)]).unwrap_err();
        KeyRing::new(&[key("A~", 1, KeyUse::Sign)]).unwrap_err();
    }
}
