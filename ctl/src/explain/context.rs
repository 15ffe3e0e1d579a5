//! The context of a decision, given by command-line arguments.

use assignment::DecisionContext;
use std::cell::Cell;
use std::str::FromStr;

/// Arguments in the place of a proxy.
#[derive(Debug, Default)]
pub struct ExplainContext {
    pub(super) now_seconds: u64,
    claims: Vec<Claim>,
    client_address: Option<String>,
    drawn: Cell<bool>,
}

/// A claim by its path, `sub=alice` or `realm.user=alice`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    path: String,
    value: String,
}

/// The error of a text that is no claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a claim as `sub=alice`, found `{0}`")]
pub struct ClaimError(String);

impl FromStr for Claim {
    type Err = ClaimError;

    fn from_str(text: &str) -> Result<Self, ClaimError> {
        match text.split_once('=') {
            Some((path, value)) if !path.is_empty() => {
                Ok(Self { path: path.to_owned(), value: value.to_owned() })
            }
            _ => Err(ClaimError(text.to_owned())),
        }
    }
}

impl ExplainContext {
    /// A moment (seconds since 1970-01-01 UTC), with nothing known about the client.
    pub fn at(now_seconds: u64) -> Self {
        Self { now_seconds, ..Self::default() }
    }

    /// With claims of a token that `jwt_authn` would have verified.
    #[must_use]
    pub fn with_claims(self, claims: Vec<Claim>) -> Self {
        Self { claims, ..self }
    }

    /// With the client's address, without its port.
    #[must_use]
    pub fn with_client_address(self, client_address: Option<String>) -> Self {
        Self { client_address, ..self }
    }

    /// Whether the decision drew an identity. Then bucket and version are one example of many.
    pub(super) fn has_drawn(&self) -> bool {
        self.drawn.get()
    }
}

impl DecisionContext for ExplainContext {
    fn now_seconds(&self) -> u64 {
        self.now_seconds
    }

    /// Always the same number: what depends on it is reported as a chance and never as an outcome.
    fn random(&self) -> Option<u64> {
        self.drawn.set(true);
        Some(0)
    }

    fn jwt_claim(&self, _payload: &str, claim: &[String]) -> Option<Vec<u8>> {
        let path = claim.join(".");
        self.claims.iter().find(|given| given.path == path).map(|given| given.value.clone().into_bytes())
    }

    fn client_address(&self) -> Option<Vec<u8>> {
        self.client_address.clone().map(String::into_bytes)
    }

    fn is_unavailable(&self, _release: usize, _version: usize) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_found_by_its_whole_path() {
        let context = ExplainContext::at(0).with_claims(vec!["realm.user=alice=b".parse().unwrap()]);
        let path = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(context.jwt_claim("payload", &path("realm/user")), Some(b"alice=b".to_vec()));
        assert_eq!(context.jwt_claim("payload", &path("user")), None);
        "alice".parse::<Claim>().unwrap_err();
    }
}
