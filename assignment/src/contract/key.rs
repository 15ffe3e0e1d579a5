//! Where a user's key may be found.

use serde::{Deserialize, Serialize};

/// One place to look for the key; a release has an ordered list, and the first that is there and not empty counts.
///
/// As JSON an object with one field: `{"cookie": "JSESSIONID"}`, `{"jwt": {"claim": ["sub"]}}`, `{"clientAddress": {}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        #[serde(default = "default_payload")]
        payload: String,
    },
    /// The identity header of the previous hop. Inside the mesh only.
    Identity {},
    /// The client's address as Envoy sees it, without its port.
    ClientAddress {},
}

fn default_payload() -> String {
    "payload".to_owned()
}
