//! Another key takes over: it verifies everywhere before it signs anywhere, and the old one verifies until what it has
//! signed is too old to count.
//!
//! ```text
//! k1 signs                     the ring as it is
//! k1 signs, k2 verifies        seen by every proxy
//! k1 verifies, k2 signs        seen by every proxy; from here on k1's seals age
//! k2 signs
//! ```
//!
//! A ring's order is the order in which its keys came. The key that signs is known by every proxy at each of these steps.

use super::SigningKeys;
use assignment::contract::{KeyUse, RingKey};

impl SigningKeys {
    /// The key that signs.
    pub fn signer(&self) -> Option<&RingKey> {
        self.keys.get(self.signing()?)
    }

    fn signing(&self) -> Option<usize> {
        self.keys.iter().position(|key| key.usage == KeyUse::Sign)
    }

    /// A key that came after the one that signs, and does not sign yet.
    pub fn successor(&self) -> Option<&RingKey> {
        self.keys.last().filter(|key| key.usage == KeyUse::Verify)
    }

    /// The keys before the one that signs: they verify what they have signed. Where none signs there are none.
    pub fn superseded(&self) -> impl Iterator<Item = &RingKey> {
        self.keys.iter().take(self.signing().unwrap_or_default())
    }

    /// The same with a new key that verifies.
    ///
    /// # Errors
    ///
    /// If the system has no randomness.
    pub fn with_successor(&self) -> Result<Self, getrandom::Error> {
        let numbers = self.keys.iter().filter_map(|key| key.id.strip_prefix('k')?.parse::<u32>().ok());
        let id = format!("k{}", numbers.max().unwrap_or_default().saturating_add(1));
        let mut ring = self.clone();
        ring.keys.push(RingKey { id, key: super::keys::secret()?, usage: KeyUse::Verify });
        Ok(ring)
    }

    /// The same with the last key signing, and no other.
    #[must_use]
    pub fn succeeded(&self) -> Self {
        self.signed_by(self.keys.len().saturating_sub(1))
    }

    /// The same without the keys that signed before.
    #[must_use]
    pub fn without_superseded(&self) -> Self {
        let keys = self.keys.iter().skip(self.signing().unwrap_or_default()).cloned().collect();
        Self { keys, identity_key: self.identity_key.clone() }
    }

    /// Two rings of one rotation that was interrupted, as the later of its steps. `None` if they are no such rings:
    /// keys of one name differ, or one has none of the other's.
    pub fn merged(&self, other: &Self) -> Option<Self> {
        let (longer, shorter) =
            if self.keys.len() >= other.keys.len() { (self, other) } else { (other, self) };
        let is_same = |key: &RingKey| longer.keys.iter().any(|own| own.id == key.id && own.key == key.key);
        if self.identity_key != other.identity_key || !shorter.keys.iter().all(is_same) {
            return None;
        }
        let place = |ring: &Self| {
            let signer = ring.signer()?;
            longer.keys.iter().position(|key| key.id == signer.id)
        };
        Some(longer.signed_by(place(self)?.max(place(other)?)))
    }

    fn signed_by(&self, signer: usize) -> Self {
        let usage = |place| if place == signer { KeyUse::Sign } else { KeyUse::Verify };
        let keys = self.keys.iter().enumerate();
        let keys = keys.map(|(place, key)| RingKey { usage: usage(place), ..key.clone() }).collect();
        Self { keys, identity_key: self.identity_key.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ring: &SigningKeys) -> Vec<(&str, KeyUse)> {
        ring.keys.iter().map(|key| (key.id.as_str(), key.usage)).collect()
    }

    #[test]
    fn a_key_verifies_before_it_signs_and_the_old_one_verifies_until_it_is_retired() {
        let first = SigningKeys::draw().unwrap();
        assert_eq!(first.successor(), None);
        let both = first.with_successor().unwrap();
        assert_eq!(said(&both), [("k1", KeyUse::Sign), ("k2", KeyUse::Verify)]);
        assert_eq!(both.successor().unwrap().id, "k2");
        assert_eq!(both.superseded().count(), 0);
        let turned = both.succeeded();
        assert_eq!(said(&turned), [("k1", KeyUse::Verify), ("k2", KeyUse::Sign)]);
        assert_eq!(turned.successor(), None);
        assert_eq!(turned.superseded().map(|key| key.id.as_str()).collect::<Vec<_>>(), ["k1"]);
        let alone = turned.without_superseded();
        assert_eq!(said(&alone), [("k2", KeyUse::Sign)]);
        assert_eq!(said(&alone.with_successor().unwrap()), [("k2", KeyUse::Sign), ("k3", KeyUse::Verify)]);
        assert_eq!(alone.identity_key, first.identity_key, "identities stay what they are");
    }

    #[test]
    fn a_ring_in_which_no_key_signs_loses_none() {
        let mut ring = SigningKeys::draw().unwrap().with_successor().unwrap();
        ring.keys.iter_mut().for_each(|key| key.usage = KeyUse::Verify);
        assert_eq!(ring.superseded().count(), 0);
        assert_eq!(ring.without_superseded(), ring);
    }

    #[test]
    fn rings_of_an_interrupted_rotation_are_continued_at_the_later_step() {
        let first = SigningKeys::draw().unwrap();
        let both = first.with_successor().unwrap();
        let turned = both.succeeded();
        let alone = turned.without_superseded();
        for (one, other, expected) in [
            (&first, &both, &both),
            (&both, &turned, &turned),
            (&turned, &alone, &turned),
            (&both, &both, &both),
        ] {
            assert_eq!(one.merged(other).as_ref(), Some(expected));
            assert_eq!(other.merged(one).as_ref(), Some(expected));
        }
        assert_eq!(first.merged(&SigningKeys::draw().unwrap()), None, "of somebody else");
        assert_eq!(both.merged(&first.with_successor().unwrap()), None, "two that were begun");
    }
}
