//! The text form: fields between dots, in one order, in one spelling.
//!
//! Letters, digits, `-`, `.` and `_` are what no client encodes and no cookie library quotes (RFC 3986 §2.3 has `~` too, but in
//! `application/x-www-form-urlencoded` it is `%7E`). A version may have dots itself: it is what the fields before and after it
//! leave.

use super::{FORMAT, Kind, MAX_TEXT_LEN, MAX_VERSION_LEN, Seal};
use crate::{Identity, position_of};
use std::fmt::Write as _;

/// The length of a MAC, in bytes: 128 bits.
pub(super) const MAC_LEN: usize = 16;

/// A text taken apart, its MAC not yet verified.
pub(super) struct Unverified<'t> {
    pub(super) key_id: &'t [u8],
    pub(super) seal: Seal<'t>,
    pub(super) mac: [u8; MAC_LEN],
}

/// Takes a text apart. `None` for anything that [`write`] would not have written byte for byte.
pub(super) fn read(kind: Kind, text: &[u8]) -> Option<Unverified<'_>> {
    if text.len() > MAX_TEXT_LEN {
        return None;
    }
    let (head, rest) = split_first(text)?;
    if head != [kind.letter(), FORMAT] {
        return None;
    }
    let (key_id, rest) = split_first(rest)?;
    let (rest, mac) = split_last(rest)?;
    let (rest, expires) = match kind {
        Kind::Token => split_last(rest).and_then(|(rest, digits)| Some((rest, Some(number(digits)?))))?,
        Kind::Pin | Kind::Id | Kind::Baggage => (rest, None),
    };
    let (rest, issued) = split_last(rest)?;
    let (rest, identity) = split_last(rest)?;
    let (version, epoch) = split_last(rest)?;
    if version.len() > MAX_VERSION_LEN {
        return None;
    }
    let (epoch, issued) = (u32::try_from(number(epoch)?).ok()?, number(issued)?);
    let (identity, mac) = (Identity::from_hex(identity)?, mac_from_hex(mac)?);
    Some(Unverified { key_id, seal: Seal { kind, version, epoch, identity, issued, expires }, mac })
}

/// The start of the version in a text that has been read: behind kind and key id.
pub(super) fn version_at(text: &[u8]) -> Option<usize> {
    let mut separators = text.iter().enumerate().filter(|(_, byte)| **byte == b'.');
    separators.nth(1).map(|(place, _)| place + 1)
}

/// The parts before and after the first dot.
fn split_first(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (field, rest) = text.split_at_checked(position_of(b'.', text)?)?;
    Some((field, rest.get(1..)?))
}

/// The parts before and after the last dot.
fn split_last(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = text.iter().rposition(|byte| *byte == b'.')?;
    let (rest, field) = text.split_at_checked(dot)?;
    Some((rest, field.get(1..)?))
}

/// Writes a seal and its MAC as text.
pub(super) fn write(seal: &Seal<'_>, key_id: &str, mac: &[u8]) -> String {
    // A version is a label value: ASCII, checked by the policy.
    let version = std::str::from_utf8(seal.version).unwrap_or_default();
    let (kind, format) = (char::from(seal.kind.letter()), char::from(FORMAT));
    let mut text =
        format!("{kind}{format}.{key_id}.{version}.{}.{}.{}", seal.epoch, seal.identity, seal.issued);
    // Writing to a string cannot fail.
    if let Some(expires) = seal.expires {
        let _ = write!(text, ".{expires}");
    }
    text.push('.');
    for byte in mac {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A MAC is two identities' worth of hexadecimal digits.
fn mac_from_hex(text: &[u8]) -> Option<[u8; MAC_LEN]> {
    let (high, low) = text.split_at_checked(Identity::TEXT_LEN)?;
    let (high, low) = (Identity::from_hex(high)?.as_u64(), Identity::from_hex(low)?.as_u64());
    Some(((u128::from(high) << 64) | u128::from(low)).to_be_bytes())
}

/// A decimal number without sign or leading zero, so that each number has one spelling.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| match digit {
        b'0'..=b'9' => Some(number * 10 + u64::from(digit - b'0')),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: Identity = Identity::from_random(7);

    #[test]
    fn a_version_with_dots_is_read_back() {
        for version in ["v2", "1.2", "2026.11.22-a_b", "1.2.3.4", ""] {
            for seal in
                [Seal::pin(version.as_bytes(), 3, WHO, 5), Seal::token(version.as_bytes(), 3, WHO, 5, 6)]
            {
                let text = write(&seal, "k1", &[0xab; MAC_LEN]);
                let read =
                    read(seal.kind, text.as_bytes()).map(|read| (read.key_id.to_vec(), read.seal, read.mac));
                assert_eq!(read, Some((b"k1".to_vec(), seal, [0xab; MAC_LEN])), "{text}");
                assert_eq!(version_at(text.as_bytes()), Some("p1.k1.".len()), "{text}");
            }
        }
    }

    #[test]
    fn a_text_has_only_bytes_that_no_client_encodes() {
        let text = write(&Seal::token(b"1.2-a_b", 3, WHO, 5, 6), "k1", &[0xab; MAC_LEN]);
        let encoded: Vec<char> =
            text.chars().filter(|char| !char.is_ascii_alphanumeric() && !"-._".contains(*char)).collect();
        assert_eq!(encoded, [], "{text}");
    }
}
