//! The filter's configuration, the one thing that `canary-ctl` writes and the filter reads.
//!
//! Versioned by [`FORMAT`]: a reader refuses a newer *major* format, because it would act on half of it, and takes
//! newer *optional* fields of its own format. The writer's side is strict ([`FilterConfig::from_json_strict`]), so that
//! a misspelt field is an error on somebody's screen and not a silent default in a proxy.
//!
//! Releases are a map, not a list: in a `WasmPlugin` each key can have a field manager of its own, so that two teams
//! can share one gateway.

mod cookie;
mod error;
mod key;
mod release;
mod secret;

pub use cookie::{CookieConfig, SameSite};
pub use error::ContractError;
pub use key::KeySource;
pub use release::{
    CachePolicy, Fallback, GoneVersion, IdentityMode, MintPolicy, OverrideConfig, OverrideMode, PinConfig,
    PodAffinity, ReleaseConfig, Role, Stickiness, TokenConfig, Until, UntilAction, VersionConfig,
};
pub use secret::{KeyUse, RingKey, Secret};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The major version of the contract. It changes when a reader of the old one would do the wrong thing.
pub const FORMAT: u32 = 1;

/// Everything that one proxy needs to know about all of its releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterConfig {
    /// The contract's major version, [`FORMAT`].
    pub format: u32,
    /// Whether this proxy stands at the edge (trusts nothing) or inside the mesh (trusts the previous hop).
    #[serde(default)]
    pub position: Position,
    /// Header names, fixed per proxy and not per release.
    #[serde(default)]
    pub headers: HeaderNames,
    /// The cookie of minted ids, one per host for all releases.
    #[serde(default = "CookieConfig::default_id")]
    pub id_cookie: CookieConfig,
    /// How long a browser keeps a minted id, in seconds.
    #[serde(default = "default_id_max_age")]
    pub id_max_age_seconds: u64,
    /// The ring that signs and verifies pins, minted ids and tokens. At most one key signs.
    #[serde(default)]
    pub keys: Vec<RingKey>,
    /// The secret behind `identity: keyed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_key: Option<Secret>,
    /// Writes `wasm.canary` filter state for access logs.
    #[serde(default)]
    pub filter_state: bool,
    /// Says in a response header what was decided and why. For test systems: it tells users their bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug_header: Option<String>,
    /// The releases, by `<namespace>/<name>`.
    pub releases: BTreeMap<String, ReleaseConfig>,
}

/// Where a proxy stands, which decides what it believes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Position {
    /// Requests come from users: identity and cohort headers are removed, cookies can be set.
    #[default]
    Edge,
    /// Requests come from a proxy of ours: identity and cohort headers are believed, no cookies are set.
    Mesh,
}

/// The names of the headers that the filter reads and writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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
            filter_state: false,
            debug_header: None,
            releases: BTreeMap::new(),
        }
    }

    /// The filter's way of reading: unknown optional fields are a newer writer's, and are passed over.
    ///
    /// Fails on anything that is no JSON of this shape, and on another major format. Does not check what the fields
    /// say: that is [`crate::Policy::compile`].
    pub fn from_json(json: &[u8]) -> Result<Self, ContractError> {
        let found: Format = serde_json::from_slice(json)?;
        if found.format != FORMAT {
            return Err(ContractError::Format { found: found.format });
        }
        Ok(serde_json::from_slice(json)?)
    }

    /// The CLI's way of reading: an unknown field is an error that names its place.
    pub fn from_json_strict(json: &[u8]) -> Result<Self, ContractError> {
        let mut first_unknown = None;
        let mut reader = serde_json::Deserializer::from_slice(json);
        let config: Self = serde_ignored::deserialize(&mut reader, |path| {
            first_unknown.get_or_insert_with(|| path.to_string());
        })?;
        match first_unknown {
            Some(place) => Err(ContractError::UnknownField { place }),
            None if config.format != FORMAT => Err(ContractError::Format { found: config.format }),
            None => Ok(config),
        }
    }

    /// The JSON that goes into the proxy's configuration, keys included.
    pub fn to_json(&self) -> Result<String, ContractError> {
        Ok(serde_json::to_string(self)?)
    }
}

/// Read before the rest, so that a newer format is named as such and not as a missing field.
#[derive(Deserialize)]
struct Format {
    format: u32,
}
