//! Signatures of hook requests, by which a receiver knows that a request is of this driver, of now, and unchanged.
//!
//! # Source
//! [Standard Webhooks 1.0.0](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), symmetric: the
//! HMAC-SHA256 of `{id}.{timestamp}.{body}` in base64 behind `v1,`. There are libraries for receivers in most languages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::HeaderMap;
use hyper::http::request::Builder;
use jiff::Timestamp;
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;

/// Before the base64 of a key.
const KEY_PREFIX: &str = "whsec_";
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// One signs, and another one while receivers change theirs.
const MAX_KEYS: usize = 4;
const ID: &str = "webhook-id";
const TIMESTAMP: &str = "webhook-timestamp";
const SIGNATURE: &str = "webhook-signature";

/// The keys of a hook, each of which signs. They are printed nowhere.
pub(super) struct SignatureKeys(Vec<Hmac<Sha256>>);

/// The text is no key. It is not repeated: it may be one, with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected 1 to 4 keys, each `whsec_` and the base64 of 24 to 64 random bytes, with a space or a line's end between them; found another text"
)]
pub(super) struct KeyError;

impl FromStr for SignatureKeys {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let keys: Vec<Hmac<Sha256>> = text.split_whitespace().map(key).collect::<Result<_, _>>()?;
        if (1..=MAX_KEYS).contains(&keys.len()) { Ok(Self(keys)) } else { Err(KeyError) }
    }
}

fn key(text: &str) -> Result<Hmac<Sha256>, KeyError> {
    let bytes = text.strip_prefix(KEY_PREFIX).and_then(|encoded| STANDARD.decode(encoded).ok());
    let bytes = bytes.filter(|bytes| KEY_BYTES.contains(&bytes.len())).ok_or(KeyError)?;
    Hmac::new_from_slice(&bytes).map_err(|_| KeyError)
}

impl SignatureKeys {
    /// The same request with its signature. The id is the same in each attempt of a call; the time is that of the attempt.
    pub(super) fn sign(&self, request: Builder, id: &str, at: Timestamp, body: &[u8]) -> Builder {
        let at = at.as_second().to_string();
        let signatures = self.0.iter().map(|key| {
            let mut mac = key.clone();
            for part in [id.as_bytes(), b".", at.as_bytes(), b".", body] {
                mac.update(part);
            }
            format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
        });
        let signatures: Vec<String> = signatures.collect();
        request.header(ID, id).header(TIMESTAMP, at).header(SIGNATURE, signatures.join(" "))
    }
}

/// The signatures of a request: who has one can send the same request again, for some minutes.
pub(super) fn signatures(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SIGNATURE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(' ')).map(|value| value.trim_start_matches("v1,"))
}

impl fmt::Debug for SignatureKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignatureKeys(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn signed(keys: &str, id: &str, at: i64, body: &[u8]) -> Vec<(String, String)> {
        let keys: SignatureKeys = keys.parse().unwrap();
        let at = Timestamp::from_second(at).unwrap();
        let request = keys.sign(Request::post("http://receiver/"), id, at, body).body(()).unwrap();
        let text = |value: &hyper::header::HeaderValue| value.to_str().unwrap().to_owned();
        request.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    }

    #[test]
    fn a_signature_is_that_of_the_libraries_of_the_specification() {
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        let expected = [
            ("webhook-id", id),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(signed(KEY, id, 1_614_265_330, body), expected);
    }

    #[test]
    fn each_of_several_keys_signs() {
        let other = format!("whsec_{}", STANDARD.encode([7; 64]));
        let of = |keys: &str| signed(keys, "a", 1, b"{}")[2].1.clone();
        assert_eq!(of(&format!("{KEY}\n{other}\n")), format!("{} {}", of(KEY), of(&other)));
        assert_ne!(of(KEY), of(&other));
    }

    #[test]
    fn a_text_that_is_no_key_is_not_repeated_and_a_key_is_not_printed() {
        let short = format!("whsec_{}", STANDARD.encode([7; 23]));
        let long = format!("whsec_{}", STANDARD.encode([7; 65]));
        let many = [KEY; 5].join(" ");
        for text in ["", " ", "secret", "whsec_", "whsec_???", &KEY[6..], &short, &long, &many] {
            let error = text.parse::<SignatureKeys>().unwrap_err().to_string();
            assert!(text.trim().is_empty() || text == "whsec_" || !error.contains(text), "{text}: {error}");
        }
        assert_eq!(format!("{:?}", KEY.parse::<SignatureKeys>().unwrap()), "SignatureKeys(redacted)");
    }
}
