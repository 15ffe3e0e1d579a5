//! Keys, which are never printed.

use super::read::{Fields, Place, Read, deserialize_by_reading, words};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt::{self, Write as _};

/// Secret bytes: hexadecimal on the wire, redacted everywhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The least number of bytes that a key may have: 128 bits.
    pub const MIN_LEN: usize = 16;

    /// Wraps the bytes; the length is checked when the policy is compiled.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes, for the MAC alone.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes, redacted)", self.0.len())
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut digits = String::with_capacity(2 * self.0.len());
        for byte in &self.0 {
            // Writing to a string cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        serializer.serialize_str(&digits)
    }
}

impl Read for Secret {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let bytes = value.as_str().and_then(|text| from_hex(text.trim().as_bytes()));
        if bytes.is_none() {
            // What stands there is not repeated: it is a secret, if a broken one.
            at.fault("expected a secret in hexadecimal digits");
        }
        Self(bytes.unwrap_or_default())
    }
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    pairs.collect()
}

fn digit(text: u8) -> Option<u8> {
    char::from(text).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// One key of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RingKey {
    /// Names the key in what it signed: 1 to 16 of `a-z 0-9 -`.
    pub id: String,
    /// At least [`Secret::MIN_LEN`] bytes.
    pub key: Secret,
    /// The key's current use. Rotation: `verify` everywhere, then `sign`, then the old one `verify` until its pins aged.
    #[serde(rename = "use")]
    pub usage: KeyUse,
}

/// The use of a key of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyUse {
    /// Signs new ones and verifies.
    Sign,
    /// Verifies only.
    Verify,
}

impl Read for RingKey {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self { id: fields.required("id"), key: fields.required("key"), usage: fields.required("use") }
    }
}

words! {
    KeyUse { "verify" => Verify, "sign" => Sign }
}

deserialize_by_reading!(Secret, RingKey, KeyUse);
