//! The configuration, checked and prepared: everything that can be computed once is computed here.
//!
//! Second stage: takes a [`FilterConfig`], gives a [`Policy`] whose look-ups cost the same for one release and for ten
//! thousand. What cannot be accepted is refused here, with the place.

mod check;
mod hosts;
mod release;
mod session_age;

pub use release::{PinStatus, Release, Version};
pub use session_age::SessionAge;

use crate::contract::{
    ContractError, CookieConfig, FilterConfig, HeaderNames, IdentityMode, Position, ReleaseConfig,
    read_document,
};
use crate::identity::IdentityKey;
use crate::seal::{KeyRing, baggage_keys};
use hosts::HostIndex;

/// A configuration in force.
#[derive(Debug)]
pub struct Policy {
    /// The proxy's position: edge or mesh.
    pub position: Position,
    /// The names of our headers.
    pub headers: HeaderNames,
    /// Signs and verifies pins, minted ids and tokens.
    pub ring: KeyRing,
    /// Signs and verifies decisions in baggage; empty if baggage is not used.
    pub baggage_ring: KeyRing,
    /// The minted id's cookie.
    pub id_cookie: CookieConfig,
    /// The age of a minted id in a browser, in seconds.
    pub id_max_age_seconds: u64,
    /// The key of our member in W3C baggage, if it is used.
    pub baggage: Option<String>,
    /// Whether filter state is written.
    pub filter_state: bool,
    /// The debug response header, if any.
    pub debug_header: Option<String>,
    identity_key: Option<IdentityKey>,
    releases: Vec<Release>,
    hosts: HostIndex,
}

impl Policy {
    /// Checks a configuration and prepares it.
    ///
    /// # Errors
    /// On the first field with an impossible value; the error names it. A configuration without releases, a release at
    /// weight 0 and a release without a canary are valid.
    pub fn compile(config: &FilterConfig) -> Result<Self, ContractError> {
        let releases =
            config.releases.iter().map(|(name, release)| (name.clone(), release.clone())).collect();
        Self::build(config, releases)
    }

    /// Reads a configuration as the filter does (see [`FilterConfig::from_json`]) and compiles it, without ever holding
    /// it as a whole beside what becomes of it.
    ///
    /// # Errors
    /// Where reading or compiling fails.
    pub fn from_json(json: &[u8]) -> Result<Self, ContractError> {
        let (proxy, releases) = read_document(json, false)?;
        Self::build(&proxy, releases)
    }

    /// `proxy` is the configuration but for its releases.
    fn build(proxy: &FilterConfig, configs: Vec<(String, ReleaseConfig)>) -> Result<Self, ContractError> {
        let ring = KeyRing::new(&proxy.keys)?;
        check::proxy(proxy)?;
        let mut releases = Vec::with_capacity(configs.len());
        let mut hosts = HostIndex::default();
        for (name, config) in configs {
            check::release(proxy, &ring, &name, &config)?;
            hosts.insert(&name, &config, &releases)?;
            releases.push(Release::prepare(name, config));
        }
        let baggage_ring = match (proxy.position, &proxy.baggage) {
            (_, None) => KeyRing::default(),
            (Position::Edge, Some(_)) => KeyRing::new(&baggage_keys(&proxy.keys))?,
            (Position::Mesh, Some(_)) => ring.clone(),
        };
        Ok(Self {
            position: proxy.position,
            headers: proxy.headers.clone(),
            ring,
            baggage_ring,
            id_cookie: proxy.id_cookie.clone(),
            id_max_age_seconds: proxy.id_max_age_seconds,
            baggage: proxy.baggage.clone(),
            filter_state: proxy.filter_state,
            debug_header: proxy.debug_header.clone(),
            identity_key: proxy.identity_key.as_ref().map(|secret| IdentityKey::new(secret.expose())),
            releases,
            hosts,
        })
    }

    /// A policy that touches no request: what a filter runs on that never had a good configuration.
    pub fn inert() -> Self {
        Self {
            position: Position::Edge,
            headers: HeaderNames::default(),
            ring: KeyRing::default(),
            baggage_ring: KeyRing::default(),
            id_cookie: CookieConfig::default_id(),
            id_max_age_seconds: 0,
            baggage: None,
            filter_state: false,
            debug_header: None,
            identity_key: None,
            releases: Vec::new(),
            hosts: HostIndex::default(),
        }
    }

    /// The release that a request concerns: by host (exact, then the longest wildcard, as Envoy picks a virtual host)
    /// and by the longest path prefix within it. `authority` and `path` as they are in the request.
    pub fn find(&self, authority: &[u8], path: &[u8]) -> Option<usize> {
        self.hosts.find(authority, path)
    }

    /// All releases.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// A release by its index.
    pub fn release(&self, index: usize) -> Option<&Release> {
        self.releases.get(index)
    }

    /// The identity of a key under this release's mode.
    pub fn identity_of(&self, release: &Release, key: &[u8]) -> crate::Identity {
        match (release.identity_mode, &self.identity_key) {
            (IdentityMode::Keyed, Some(secret)) => crate::Identity::of_key_with(secret, key),
            _ => crate::Identity::of_key(key),
        }
    }
}
