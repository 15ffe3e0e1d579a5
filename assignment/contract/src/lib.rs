//! The filter's configuration: written by `canary-ctl`, read by the filter.
//!
//! Versioned by [`FORMAT`]: a reader refuses a newer *major* format, because it would apply only a part of it, and
//! ignores unknown *optional* fields of its own format. The writer's side is strict
//! ([`FilterConfig::from_json_strict`]), so that a misspelt field is an error of `canary-ctl` and not a silent default
//! in a proxy.
//!
//! Releases are a map, not a list: in a `WasmPlugin` each key can have a field manager of its own, so that two teams
//! can share one gateway.

#![warn(missing_docs, clippy::missing_errors_doc)]

mod cookie;
mod document;
mod error;
mod key;
mod read;
mod release;
mod release_fields;
mod secret;
pub mod weight;

pub use cookie::{CookieConfig, SameSite};
pub use document::{Document, read as read_document};
pub use error::ContractError;
pub use key::KeySource;
pub use release::{
    CacheControl, ExpiryAction, Fallback, GoneVersion, IdentityMode, MintPolicy, OverrideConfig,
    OverrideMode, PinConfig, ReleaseConfig, Role, SessionAffinity, Stickiness, TokenConfig, Until,
    VersionConfig,
};
pub use secret::{KeyUse, RingKey, Secret};
pub use weight::Weight;

use read::{Fields, Place, Read, deserialize_by_reading, words};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The major version of the contract. It changes when a reader of the old one would do the wrong thing.
pub const FORMAT: u32 = 1;

/// The configuration of one proxy, for all of its releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterConfig {
    /// The contract's major version, [`FORMAT`].
    pub format: u32,
    /// Whether this proxy is at the edge (trusts no client header) or inside the mesh (trusts the previous hop).
    pub position: Position,
    /// Header names, fixed per proxy and not per release.
    pub headers: HeaderNames,
    /// The cookie of minted ids, one per host for all releases.
    pub id_cookie: CookieConfig,
    /// The age of a minted id in a browser, in seconds.
    pub id_max_age_seconds: u64,
    /// The ring that signs and verifies pins, minted ids and tokens. At most one key signs. Inside the mesh: the keys
    /// that `baggage_keys` derives from it, which verify decisions in baggage.
    pub keys: Vec<RingKey>,
    /// The secret behind `identity: keyed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_key: Option<Secret>,
    /// The key of our member in W3C baggage, which carries the edge's decision through applications that forward baggage
    /// and not our headers. Absent: neither written nor read nor removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baggage: Option<String>,
    /// Writes `wasm.canary` filter state for access logs.
    pub filter_state: bool,
    /// Name of a response header with the decision and its reason. For test systems: it discloses the user's bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_header: Option<String>,
    /// The releases, by `<namespace>/<name>`.
    pub releases: BTreeMap<String, ReleaseConfig>,
}

/// The position of a proxy, which determines which headers it trusts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Position {
    /// Requests come from users: identity and cohort headers are removed, cookies can be set.
    #[default]
    Edge,
    /// Requests come from another proxy with this filter: identity and cohort headers are trusted, no cookies are set.
    Mesh,
}

/// The names of the headers that the filter reads and writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderNames {
    /// `<release>/<version>`, what the VirtualService matches.
    pub routing: String,
    /// The user's identity, for the next hop.
    pub identity: String,
    /// The edge's decision per train, for the next hop.
    pub cohort: String,
    /// A version by name, where `override: open`.
    pub overrides: String,
    /// A signed token, where `override: token`.
    pub token: String,
}

impl Default for HeaderNames {
    fn default() -> Self {
        Self {
            routing: "x-canary-version".to_owned(),
            identity: "x-canary-id".to_owned(),
            cohort: "x-canary-cohort".to_owned(),
            overrides: "x-canary-override".to_owned(),
            token: "x-canary-token".to_owned(),
        }
    }
}

impl HeaderNames {
    /// The headers that no client may send: routing, identity, cohort. Also removed natively, before any route.
    pub fn trusted(&self) -> [&str; 3] {
        [&self.routing, &self.identity, &self.cohort]
    }
}

const fn default_id_max_age() -> u64 {
    // A quarter: longer than any release, shorter than what browsers cap at (400 days).
    90 * 24 * 3600
}

impl FilterConfig {
    /// A configuration of this format without releases: every request passes untouched.
    pub fn empty() -> Self {
        Self {
            format: FORMAT,
            position: Position::default(),
            headers: HeaderNames::default(),
            id_cookie: CookieConfig::default_id(),
            id_max_age_seconds: default_id_max_age(),
            keys: Vec::new(),
            identity_key: None,
            baggage: None,
            filter_state: false,
            debug_header: None,
            releases: BTreeMap::new(),
        }
    }

    /// Reads a configuration as the filter does: unknown optional fields come from a newer writer and are ignored. What the
    /// fields mean together is checked by `assignment::Policy::compile`.
    ///
    /// # Errors
    /// On text that is not JSON of this shape, and on another major format.
    pub fn from_json(json: &[u8]) -> Result<Self, ContractError> {
        read_document(json, false).map(Self::whole)
    }

    /// Reads a configuration as the CLI does.
    ///
    /// # Errors
    /// As [`FilterConfig::from_json`], and on an unknown field; the error names its place.
    pub fn from_json_strict(json: &[u8]) -> Result<Self, ContractError> {
        read_document(json, true).map(Self::whole)
    }

    fn whole((proxy, releases): document::Document) -> Self {
        Self { releases: releases.into_iter().collect(), ..proxy }
    }

    /// The JSON for the proxy's configuration, keys included.
    ///
    /// # Errors
    /// If the configuration cannot be serialised.
    pub fn to_json(&self) -> Result<String, ContractError> {
        Ok(serde_json::to_string(self)?)
    }
}

impl Read for FilterConfig {
    /// Everything but the releases, which [`document`] reads.
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self {
            format: fields.required("format"),
            position: fields.or_default("position"),
            headers: fields.or_default("headers"),
            id_cookie: fields.optional("idCookie").unwrap_or_else(CookieConfig::default_id),
            id_max_age_seconds: fields.optional("idMaxAgeSeconds").unwrap_or_else(default_id_max_age),
            keys: fields.or_default("keys"),
            identity_key: fields.optional("identityKey"),
            baggage: fields.optional("baggage"),
            filter_state: fields.or_default("filterState"),
            debug_header: fields.optional("debugHeader"),
            releases: BTreeMap::new(),
        }
    }
}

impl Read for HeaderNames {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        let default = Self::default();
        Self {
            routing: fields.optional("routing").unwrap_or(default.routing),
            identity: fields.optional("identity").unwrap_or(default.identity),
            cohort: fields.optional("cohort").unwrap_or(default.cohort),
            overrides: fields.optional("overrides").unwrap_or(default.overrides),
            token: fields.optional("token").unwrap_or(default.token),
        }
    }
}

words! {
    Position { "edge" => Edge, "mesh" => Mesh }
}

deserialize_by_reading!(HeaderNames, Position);
