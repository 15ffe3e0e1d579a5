//! Keys, which are never printed.

use super::read::{Fields, Place, Read, deserialize_by_reading, words};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// Secret bytes: base64 on the wire, redacted everywhere else.
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
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl Read for Secret {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let bytes = value.as_str().and_then(|text| STANDARD.decode(text.trim()).ok());
        if bytes.is_none() {
            // What stands there is not repeated: it is a secret, if a broken one.
            at.fault("expected a secret in base64");
        }
        Self(bytes.unwrap_or_default())
    }
}

/// One key of the ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RingKey {
    /// Names the key in what it signed: 1 to 16 of `a-z 0-9 -`.
    pub id: String,
    /// At least [`Secret::MIN_LEN`] bytes.
    pub key: Secret,
    /// What the key is for now. Rotation: `verify` everywhere, then `sign`, then the old one `verify` until its pins aged.
    #[serde(rename = "use")]
    pub usage: KeyUse,
}

/// What a key of the ring is used for.
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
