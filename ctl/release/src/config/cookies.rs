//! The names and attributes of our cookies.

use crate::spec::{Cookies, ReleaseName};
use assignment::contract::CookieConfig;

/// The query parameter that carries a token.
pub(super) const TOKEN_PARAMETER: &str = "canary-token";

/// The minted id's cookie, one per host for all releases.
pub(super) fn id(cookies: &Cookies) -> CookieConfig {
    cookie(cookies, "canary-id")
}

/// The pin's cookie.
pub(super) fn pin(cookies: &Cookies, release: &ReleaseName) -> CookieConfig {
    cookie(cookies, &format!("canary-pin.{}.{}", release.namespace, release.name))
}

/// The token's cookie.
pub(super) fn token(cookies: &Cookies, release: &ReleaseName) -> CookieConfig {
    cookie(cookies, &format!("canary-token.{}.{}", release.namespace, release.name))
}

/// `__Host-` wherever browsers would keep it: with TLS and without a domain.
fn cookie(cookies: &Cookies, name: &str) -> CookieConfig {
    let prefix = if cookies.tls && cookies.domain.is_none() { "__Host-" } else { "" };
    CookieConfig {
        name: format!("{prefix}{name}"),
        secure: cookies.tls,
        same_site: cookies.same_site,
        domain: cookies.domain.clone(),
    }
}
