//! The text form: fields between `~`, in one order, in one spelling.

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
    let mut fields = Fields { rest: Some(text) };
    if fields.next()? != [kind.letter(), FORMAT] {
        return None;
    }
    let key_id = fields.next()?;
    let version = fields.next().filter(|version| version.len() <= MAX_VERSION_LEN)?;
    let epoch = u32::try_from(number(fields.next()?)?).ok()?;
    let identity = Identity::from_hex(fields.next()?)?;
    let issued = number(fields.next()?)?;
    let expires = match kind {
        Kind::Token => Some(number(fields.next()?)?),
        Kind::Pin | Kind::Id | Kind::Baggage => None,
    };
    let mac_text = fields.next()?;
    if fields.next().is_some() {
        return None;
    }
    let mac = mac_from_hex(mac_text)?;
    Some(Unverified { key_id, seal: Seal { kind, version, epoch, identity, issued, expires }, mac })
}

/// Where the version begins in a text that has been read: behind kind and key id.
pub(super) fn version_at(text: &[u8]) -> Option<usize> {
    let mut separators = text.iter().enumerate().filter(|(_, byte)| **byte == b'~');
    separators.nth(1).map(|(place, _)| place + 1)
}

/// The fields between `~`.
struct Fields<'t> {
    rest: Option<&'t [u8]>,
}

impl<'t> Iterator for Fields<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let rest = self.rest?;
        let end = position_of(b'~', rest);
        self.rest = end.and_then(|end| rest.get(end + 1..));
        rest.get(..end.unwrap_or(rest.len()))
    }
}

/// Writes a seal and its MAC as text.
pub(super) fn write(seal: &Seal<'_>, key_id: &str, mac: &[u8]) -> String {
    // A version is a label value: ASCII, checked by the policy.
    let version = std::str::from_utf8(seal.version).unwrap_or_default();
    let (kind, format) = (char::from(seal.kind.letter()), char::from(FORMAT));
    let mut text =
        format!("{kind}{format}~{key_id}~{version}~{}~{}~{}", seal.epoch, seal.identity, seal.issued);
    // Writing to a string cannot fail.
    if let Some(expires) = seal.expires {
        let _ = write!(text, "~{expires}");
    }
    text.push('~');
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
