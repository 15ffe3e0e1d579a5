//! What a refused request asks for, and the `Authorization` that it gets.

use super::call::{Call, refused};
use super::client::RegistryClient;
use super::credential::RegistryCredential;
use super::error::RegistryError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_auth::ChallengeRef;
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Response, StatusCode, Uri};
use serde::Deserialize;
use url::{Url, form_urlencoded};

/// What a 401 asks for (RFC 7617; Docker, *Token Authentication Specification*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AuthChallenge {
    /// A name and a password.
    Basic,
    /// A token of another server.
    Bearer {
        /// The server of tokens.
        realm: String,
        /// The name that it has for the registry.
        service: Option<String>,
    },
    /// What is not known: its scheme.
    Other(String),
}

#[derive(Deserialize)]
struct IssuedToken {
    token: Option<String>,
    access_token: Option<String>,
}

impl AuthChallenge {
    /// Of a response. Tokens come before passwords, where it would take both.
    pub(super) fn of(response: &Response<Bytes>) -> Self {
        let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        let parsed = texts.iter().filter_map(|text| http_auth::parse_challenges(text).ok());
        let challenges: Vec<ChallengeRef<'_>> = parsed.flatten().collect();
        let of_scheme =
            |scheme: &str| challenges.iter().find(|challenge| challenge.scheme.eq_ignore_ascii_case(scheme));
        let bearer = of_scheme("bearer").and_then(|challenge| {
            Some(Self::Bearer {
                realm: parameter(challenge, "realm")?,
                service: parameter(challenge, "service"),
            })
        });
        let other = || match challenges.first() {
            Some(challenge) => Self::Other(challenge.scheme.to_owned()),
            None => Self::Other(texts.first().copied().unwrap_or("nothing").to_owned()),
        };
        bearer.or_else(|| of_scheme("basic").map(|_| Self::Basic)).unwrap_or_else(other)
    }
}

fn parameter(challenge: &ChallengeRef<'_>, name: &str) -> Option<String> {
    let (_, value) = challenge.params.iter().find(|(found, _)| found.eq_ignore_ascii_case(name))?;
    Some(value.to_unescaped())
}

impl RegistryClient {
    /// The `Authorization` that a refused response asks for.
    pub(super) async fn authenticate(
        &mut self,
        refusal: &Response<Bytes>,
    ) -> Result<HeaderValue, RegistryError> {
        let credential = self.credential()?;
        match (AuthChallenge::of(refusal), credential) {
            (AuthChallenge::Bearer { realm, service }, credential) => {
                let token = self.token(&realm, service.as_deref(), credential.as_ref()).await?;
                self.secrets.add(&token);
                secret(&format!("Bearer {token}")).ok_or_else(|| no_token(&realm))
            }
            (AuthChallenge::Basic, Some(credential)) => basic(&credential)
                .ok_or_else(|| self.unsupported("Basic", "a name and a password, found an identity token")),
            (AuthChallenge::Basic, None) => Err(self.no_credential(refusal)),
            (AuthChallenge::Other(scheme), _) => Err(self.unsupported(&scheme, "Basic or Bearer")),
        }
    }

    fn unsupported(&self, found: &str, expected: &'static str) -> RegistryError {
        let found = found.chars().take(100).collect();
        RegistryError::Challenge { server: self.server().to_owned(), found, expected }
    }

    /// A token for the repository. Without a credential it is one for everybody.
    async fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        credential: Option<&RegistryCredential>,
    ) -> Result<String, RegistryError> {
        let wrong = || RegistryError::Url(realm.chars().take(200).collect());
        let mut url = Url::parse(realm).map_err(|_| wrong())?;
        match url.scheme() {
            "https" => {}
            "http" if self.allows_plain(&url) => {}
            "http" => return Err(RegistryError::PlainTokens(realm.chars().take(200).collect())),
            _ => return Err(wrong()),
        }
        let scope = self.scope();
        let mut fields = vec![("scope", scope.as_str())];
        fields.extend(service.map(|service| ("service", service)));
        let call = if let Some(RegistryCredential::IdentityToken(token)) = credential {
            fields.extend([
                ("grant_type", "refresh_token"),
                ("client_id", "canary-ctl"),
                ("refresh_token", token.as_str()),
            ]);
            let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
            let call = Call::new(Method::POST, uri(&url).ok_or_else(wrong)?);
            call.with(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
                .body(form.into())
        } else {
            url.query_pairs_mut().extend_pairs(fields);
            let call = Call::new(Method::GET, uri(&url).ok_or_else(wrong)?);
            match credential.and_then(basic) {
                Some(value) => call.with(AUTHORIZATION, value),
                None => call,
            }
        };
        let response = self.exchange(&call).await?;
        match response.status() {
            StatusCode::OK => issued(response.body()).ok_or_else(|| no_token(realm)),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if credential.is_none() => {
                Err(self.no_credential(&response))
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(refused(url.host_str().unwrap_or_default(), &response))
            }
            _ => Err(call.unexpected("200", &response)),
        }
    }
}

fn uri(url: &Url) -> Option<Uri> {
    url.as_str().parse().ok()
}

fn issued(body: &[u8]) -> Option<String> {
    let issued: IssuedToken = serde_json::from_slice(body).ok()?;
    issued.token.or(issued.access_token).filter(|token| !token.is_empty())
}

fn no_token(realm: &str) -> RegistryError {
    let what = realm.chars().take(200).collect();
    RegistryError::Content {
        what,
        expected: "JSON with a `token`".to_owned(),
        found: "other data".to_owned(),
    }
}

/// `None` for an identity token, which is no password.
fn basic(credential: &RegistryCredential) -> Option<HeaderValue> {
    let RegistryCredential::Password { username, password } = credential else { return None };
    secret(&format!("Basic {}", STANDARD.encode(format!("{username}:{password}"))))
}

/// A value that no log prints; `None` for text that is none of a header.
fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> AuthChallenge {
        let response = Response::builder().status(401);
        let response =
            values.iter().fold(response, |response, value| response.header(WWW_AUTHENTICATE, *value));
        AuthChallenge::of(&response.body(Bytes::new()).unwrap())
    }

    #[test]
    fn a_challenge_is_read_as_registries_write_it() {
        let bearer = |realm: &str, service: Option<&str>| AuthChallenge::Bearer {
            realm: realm.to_owned(),
            service: service.map(str::to_owned),
        };
        for (values, expected) in [
            (&["Basic realm=\"Registry Realm\""][..], AuthChallenge::Basic),
            (&["basic realm=x"], AuthChallenge::Basic),
            (
                &[
                    "Bearer realm=\"https://auth.test/token\",service=\"a \\\"b\\\"\",scope=\"repository:x:pull\"",
                ],
                bearer("https://auth.test/token", Some("a \"b\"")),
            ),
            (&["Basic realm=x", "Bearer realm=\"https://auth.test/\""], bearer("https://auth.test/", None)),
            (&["Basic realm=x, Bearer realm=\"https://auth.test/\""], bearer("https://auth.test/", None)),
            (&["Bearer service=\"x\""], AuthChallenge::Other("Bearer".to_owned())),
            (&["Negotiate"], AuthChallenge::Other("Negotiate".to_owned())),
            (&[], AuthChallenge::Other("nothing".to_owned())),
        ] {
            assert_eq!(of(values), expected, "{values:?}");
        }
    }

    #[test]
    fn a_token_has_either_of_two_names() {
        assert_eq!(issued(br#"{"token": "a"}"#), Some("a".to_owned()));
        assert_eq!(issued(br#"{"access_token": "b", "expires_in": 300}"#), Some("b".to_owned()));
        for none in [&b"{}"[..], b"<html>", br#"{"token": ""}"#] {
            assert_eq!(issued(none), None);
        }
    }
}
