//! A cache of verified seals: a page is dozens of requests, and all of them have the same pin.
//!
//! Verifying is more than half of the module's instructions for a pinned user's request
//! (`wasm-tests/tests/wasm/cost.rs`), and a browser sends the same text with every request of a page. Only genuine
//! texts are cached, so forged texts cannot fill the cache. A lookup compares the whole text in constant time, as a MAC
//! comparison would.

use super::key_ring::is_equal_in_constant_time;
use super::{KeyRing, Kind, Seal, text};
use crate::Identity;

/// The number of remembered texts, a power of two. A page is loaded within seconds, so these are the users of the last
/// seconds, not all of them.
const SLOTS: usize = 512;

/// The longest uid and text together that are remembered: with a uid of 12, as `canary-ctl` draws them, a pin of any version
/// name there can be. A commit's 40 digits are an ordinary one.
const MAX_LEN: usize = 160;

/// Seals that one ring has verified. Belongs to one configuration: a new one may have other keys.
///
/// # Shape
/// At most 512 of some 220 bytes each, taken with the first genuine text.
#[derive(Debug, Default)]
pub struct VerifiedCache {
    slots: Vec<Slot>,
}

/// A genuine text and its content; empty until it is used.
#[derive(Clone, Debug)]
struct Slot {
    kind: Kind,
    /// The release's uid, then the text.
    bytes: [u8; MAX_LEN],
    uid_len: usize,
    /// Of both; 0 where there is none.
    len: usize,
    /// The start and the end of the version in the text.
    version: (usize, usize),
    epoch: u32,
    identity: Identity,
    issued: u64,
}

impl VerifiedCache {
    /// The same as [`KeyRing::verify`] of this ring, without computing the MAC of a cached text.
    pub fn verify<'t>(&mut self, ring: &KeyRing, kind: Kind, uid: &str, text: &'t [u8]) -> Option<Seal<'t>> {
        let place = place_of(text);
        if let Some(slot) = self.slots.get(place).filter(|slot| slot.holds(kind, uid.as_bytes(), text)) {
            return slot.seal(text);
        }
        let seal = ring.verify(kind, uid, text)?;
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot::EMPTY);
        }
        if let Some(slot) = self.slots.get_mut(place) {
            slot.keep(uid.as_bytes(), text, &seal);
        }
        Some(seal)
    }
}

impl Slot {
    const EMPTY: Self = Self {
        kind: Kind::Pin,
        bytes: [0; MAX_LEN],
        uid_len: 0,
        len: 0,
        version: (0, 0),
        epoch: 0,
        identity: Identity::from_random(0),
        issued: 0,
    };

    /// Caches a genuine text. Does nothing if the text is too long, or if the seal has a field that a slot does not
    /// keep (a token's expiry).
    fn keep(&mut self, uid: &[u8], text: &[u8], seal: &Seal<'_>) {
        let (uid_len, len) = (uid.len(), uid.len() + text.len());
        let (Some(begin), None, true) = (text::version_at(text), seal.expires, len <= MAX_LEN) else {
            return;
        };
        for (place, part) in [(0, uid), (uid_len, text)] {
            if let Some(held) = self.bytes.get_mut(place..place + part.len()) {
                held.copy_from_slice(part);
            }
        }
        (self.uid_len, self.len, self.version) = (uid_len, len, (begin, begin + seal.version.len()));
        (self.kind, self.epoch, self.identity, self.issued) =
            (seal.kind, seal.epoch, seal.identity, seal.issued);
    }

    fn holds(&self, kind: Kind, uid: &[u8], text: &[u8]) -> bool {
        let held_uid = self.bytes.get(..self.uid_len).unwrap_or_default();
        let held_text = self.bytes.get(self.uid_len..self.len).unwrap_or_default();
        let is_kept = self.len > 0 && self.kind == kind && held_uid == uid;
        is_kept && is_equal_in_constant_time(held_text, text)
    }

    fn seal<'t>(&self, text: &'t [u8]) -> Option<Seal<'t>> {
        let Self { kind, epoch, identity, issued, version: (begin, end), .. } = *self;
        Some(Seal { kind, version: text.get(begin..end)?, epoch, identity, issued, expires: None })
    }
}

/// The slot of a text: by its last digits, which are the MAC's and so as good as drawn.
fn place_of(text: &[u8]) -> usize {
    let digits = text.last_chunk().map_or(0, |digits| u64::from_le_bytes(*digits));
    let mixed = digits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SLOTS.ilog2());
    usize::try_from(mixed).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{KeyUse, RingKey, Secret};

    const WHO: Identity = Identity::from_random(0x0123_4567_89ab_cdef);

    fn ring() -> KeyRing {
        let key = |id: &str, byte: u8, usage| RingKey {
            id: id.to_owned(),
            key: Secret::new(vec![byte; 32]),
            usage,
        };
        KeyRing::new(&[key("k1", 1, KeyUse::Sign), key("k0", 0, KeyUse::Verify)]).unwrap()
    }

    /// Genuine texts of all kinds and lengths, with the uid that each was signed for.
    fn genuine() -> Vec<(Kind, &'static str, String)> {
        let long = "v".repeat(63);
        let seals = |number: u64| {
            let who = Identity::from_random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            [
                Seal::pin(b"v2", 1, who, number),
                Seal::id(who, number),
                Seal::token(b"v2", 1, who, number, number + 9),
            ]
        };
        let uid = |kind| if kind == Kind::Id { "" } else { "uid000000001" };
        let mut texts: Vec<_> = (0..2_000)
            .flat_map(seals)
            .map(|seal| (seal.kind, uid(seal.kind), ring().sign(uid(seal.kind), &seal).unwrap()))
            .collect();
        let long = Seal::pin(long.as_bytes(), u32::MAX, WHO, u64::from(u32::MAX));
        let longer_uid = "a-uid-that-makes-it-too-long-for-a-slot";
        for uid in ["uid000000001", longer_uid] {
            texts.push((Kind::Pin, uid, ring().sign(uid, &long).unwrap()));
        }
        texts
    }

    #[test]
    fn it_says_what_the_ring_says_the_first_time_and_every_time_after() {
        let (ring, mut cache) = (ring(), VerifiedCache::default());
        for (kind, uid, text) in genuine() {
            let expected = ring.verify(kind, uid, text.as_bytes());
            assert!(expected.is_some(), "{text}");
            for time in 1..=3 {
                assert_eq!(cache.verify(&ring, kind, uid, text.as_bytes()), expected, "{text}, time {time}");
            }
        }
        assert_eq!(cache.slots.len(), SLOTS);
        assert!(cache.slots.iter().filter(|slot| slot.len > 0).count() > SLOTS / 10 * 9, "texts spread");
    }

    #[test]
    fn what_is_remembered_counts_for_its_kind_and_its_release_only() {
        let (ring, mut cache) = (ring(), VerifiedCache::default());
        let pin = ring.sign("uid", &Seal::pin(b"v2", 1, WHO, 5)).unwrap();
        let seal = Some(Seal::pin(b"v2", 1, WHO, 5));
        assert_eq!(cache.verify(&ring, Kind::Pin, "uid", pin.as_bytes()), seal);
        for (kind, uid) in
            [(Kind::Pin, "uid2"), (Kind::Pin, "ui"), (Kind::Pin, ""), (Kind::Id, "uid"), (Kind::Token, "uid")]
        {
            assert_eq!(cache.verify(&ring, kind, uid, pin.as_bytes()), None, "{kind:?} {uid}");
        }
    }

    #[test]
    fn no_edit_of_a_remembered_text_verifies_nor_is_it_remembered() {
        let (ring, mut cache) = (ring(), VerifiedCache::default());
        let text = ring.sign("uid", &Seal::pin(b"v2", 1, WHO, 5)).unwrap().into_bytes();
        let genuine = cache.verify(&ring, Kind::Pin, "uid", &text);
        for place in 0..text.len() {
            for bit in 0..8 {
                let mut edited = text.clone();
                edited[place] ^= 1 << bit;
                for _ in 0..2 {
                    assert_eq!(
                        cache.verify(&ring, Kind::Pin, "uid", &edited),
                        None,
                        "byte {place} bit {bit}"
                    );
                }
            }
        }
        for end in 0..text.len() {
            assert_eq!(cache.verify(&ring, Kind::Pin, "uid", &text[..end]), None, "cut at {end}");
        }
        let same_place =
            (0..0x1000).map(|digits| [&text[..text.len() - 3], format!("{digits:03x}").as_bytes()].concat());
        let mut same_place: Vec<Vec<u8>> =
            same_place.filter(|other| place_of(other) == place_of(&text)).collect();
        same_place.retain(|other| *other != text);
        assert!(!same_place.is_empty(), "others that are compared with it");
        for other in same_place {
            assert_eq!(cache.verify(&ring, Kind::Pin, "uid", &other), None);
        }
        let longer = [&text[..], b"0"].concat();
        assert_eq!(cache.verify(&ring, Kind::Pin, "uid", &longer), None);
        assert_eq!(cache.slots.iter().filter(|slot| slot.len > 0).count(), 1, "only what a key has signed");
        assert_eq!(cache.verify(&ring, Kind::Pin, "uid", &text), genuine);
    }

    #[test]
    fn it_is_the_memory_that_answers_and_not_the_ring_for_the_longest_version_too() {
        let mut cache = VerifiedCache::default();
        let version = "v".repeat(crate::seal::MAX_NAME_LEN);
        let pin = Seal::pin(version.as_bytes(), u32::MAX, WHO, u64::from(u32::MAX));
        let text = ring().sign("uid000000001", &pin).unwrap();
        assert_eq!(cache.verify(&KeyRing::default(), Kind::Pin, "uid000000001", text.as_bytes()), None);
        let seal = cache.verify(&ring(), Kind::Pin, "uid000000001", text.as_bytes());
        assert_eq!(seal, Some(pin));
        assert_eq!(cache.verify(&KeyRing::default(), Kind::Pin, "uid000000001", text.as_bytes()), seal);
    }
}
