//! JSON Web Tokens (RFC 7519) under a shared secret, and the key set that verifies them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use wasm_tests::scenario::now_seconds;

/// Whose tokens count.
pub(super) const ISSUER: &str = "https://accounts.example.com";
/// Whose tokens another rule of the same gateway accepts.
pub(super) const PARTNER: &str = "https://partners.example.com";
const SECRET: &[u8] = b"a secret that only the issuer knows";

/// The issuers' keys, as a text for `jwks`.
pub(super) fn key_set() -> String {
    let key = json!({"kty": "oct", "alg": "HS256", "kid": "k1", "k": BASE64URL.encode(SECRET)});
    json!({ "keys": [key] }).to_string()
}

/// A token of the accepted issuer for this user.
pub(super) fn genuine(user: &str) -> String {
    signed(ISSUER, user, SECRET)
}

/// The same of the partner, who uses the same keys here.
pub(super) fn of_a_partner(user: &str) -> String {
    signed(PARTNER, user, SECRET)
}

/// The same of an issuer that no `RequestAuthentication` accepts.
pub(super) fn of_a_foreign_issuer(user: &str) -> String {
    signed("https://accounts.example.org", user, b"a secret of somebody else, as long")
}

/// A token in the issuer's name, signed with a foreign key.
pub(super) fn forged(user: &str) -> String {
    signed(ISSUER, user, b"a secret of somebody else, as long")
}

/// A token in the issuer's name without a signature (`"alg": "none"`).
pub(super) fn unsigned(user: &str) -> String {
    format!("{}.", content("none", ISSUER, user))
}

fn signed(issuer: &str, user: &str, secret: &[u8]) -> String {
    let content = content("HS256", issuer, user);
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(content.as_bytes());
    format!("{content}.{}", BASE64URL.encode(mac.finalize().into_bytes()))
}

fn content(algorithm: &str, issuer: &str, user: &str) -> String {
    let part = |value: Value| BASE64URL.encode(value.to_string());
    let header = json!({"alg": algorithm, "kid": "k1", "typ": "JWT"});
    let claims = json!({"iss": issuer, "sub": user, "exp": now_seconds() + 3600});
    format!("{}.{}", part(header), part(claims))
}
