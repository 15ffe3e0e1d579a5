//! A cookie as the filter writes it.

use super::read::{Fields, Place, Read, deserialize_by_reading, words};
use serde::Serialize;
use serde_json::Value;

/// Name and attributes of a cookie that the filter writes. `Path=/` and `HttpOnly` are always set.
///
/// # Source
/// RFC 6265bis §4.1.3 for the `__Host-` prefix: `Secure`, no `Domain`, `Path=/`, otherwise the browser rejects the
/// cookie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CookieConfig {
    /// The cookie's name, a token of RFC 6265.
    pub name: String,
    /// `Secure`: the gateway serves TLS to the browser.
    pub secure: bool,
    /// `SameSite`.
    pub same_site: SameSite,
    /// `Domain`, if subdomains share the cookie. Not allowed with a `__Host-` name.
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
    /// The default cookie of minted ids.
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
