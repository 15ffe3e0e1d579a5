//! The sources of a user key.

use super::read::{Fields, Place, Read, deserialize_by_reading};
use serde::Serialize;
use serde_json::Value;

/// One source of the user key. A release has an ordered list of them; the first that is present and not empty is used.
///
/// As JSON an object with one field: `{"cookie": "JSESSIONID"}`, `{"jwt": {"claim": ["sub"]}}`, `{"clientAddress": {}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum KeySource {
    /// A cookie's value.
    Cookie(String),
    /// A request header's value (the first, where it is repeated).
    Header(String),
    /// A query parameter's value, as sent (nothing is decoded).
    Query(String),
    /// A claim of a token that `jwt_authn` verified, from the metadata it wrote – never from the header.
    #[serde(rename_all = "camelCase")]
    Jwt {
        /// The claim's path, `["sub"]` or `["realm", "user"]`.
        claim: Vec<String>,
        /// The metadata key that `jwt_authn` writes under (`payload_in_metadata`). Istio: `payload`.
        payload: String,
    },
    /// The identity header of the previous hop. Inside the mesh only.
    Identity {},
    /// The client's address as Envoy determines it, without its port.
    ClientAddress {},
}

impl Read for KeySource {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        let mut given = [
            fields.optional("cookie").map(Self::Cookie),
            fields.optional("header").map(Self::Header),
            fields.optional("query").map(Self::Query),
            fields.optional("jwt").map(|Claim { claim, payload }| Self::Jwt { claim, payload }),
            fields.optional("identity").map(|Nothing| Self::Identity {}),
            fields.optional("clientAddress").map(|Nothing| Self::ClientAddress {}),
        ]
        .into_iter()
        .flatten();
        let source = given.next();
        if source.is_none() || given.next().is_some() {
            at.fault("expected one of cookie, header, query, jwt, identity, clientAddress, and no second");
        }
        source.unwrap_or(Self::Identity {})
    }
}

/// The object of `jwt`.
struct Claim {
    claim: Vec<String>,
    payload: String,
}

impl Read for Claim {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        let payload = fields.optional("payload").unwrap_or_else(|| "payload".to_owned());
        Self { claim: fields.required("claim"), payload }
    }
}

/// An object without fields: the source needs no parameters.
struct Nothing;

impl Read for Nothing {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        Fields::of(value, at);
        Self
    }
}

deserialize_by_reading!(KeySource);
