//! A cookie as the filter writes it.

use super::read::{Fields, Place, Read, deserialize_by_reading, words};
use serde::Serialize;
use serde_json::Value;

/// Name and attributes of a cookie of ours. `Path=/` and `HttpOnly` always.
///
/// # Source
/// RFC 6265bis §4.1.3 for the `__Host-` prefix: `Secure`, no `Domain`, `Path=/`, or the browser drops it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CookieConfig {
    /// The cookie's name, a token of RFC 6265.
    pub name: String,
    /// `Secure`: the gateway speaks TLS with the browser.
    pub secure: bool,
    /// `SameSite`.
    pub same_site: SameSite,
    /// `Domain`, where sub-domains must share the cookie. Excludes a `__Host-` name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

/// The `SameSite` attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum SameSite {
    /// Sent on top-level navigations from other sites: a link in a mail keeps the user's version.
    #[default]
    Lax,
    /// Never sent from other sites.
    Strict,
    /// Always sent, for applications in foreign frames. Needs `Secure`.
    None,
}

impl SameSite {
    /// The attribute's value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lax => "Lax",
            Self::Strict => "Strict",
            Self::None => "None",
        }
    }
}

impl CookieConfig {
    /// The minted id's cookie where nothing else is said.
    pub fn default_id() -> Self {
        Self { name: "__Host-canary-id".to_owned(), secure: true, same_site: SameSite::Lax, domain: None }
    }
}

impl Read for CookieConfig {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self {
            name: fields.required("name"),
            secure: fields.optional("secure").unwrap_or(true),
            same_site: fields.or_default("sameSite"),
            domain: fields.optional("domain"),
        }
    }
}

words! {
    SameSite { "Lax" => Lax, "Strict" => Strict, "None" => None }
}

deserialize_by_reading!(CookieConfig, SameSite);
