//! The configuration, checked and prepared: everything that can be computed once is computed here.
//!
//! Second stage: takes a [`FilterConfig`], gives a [`Policy`] whose look-ups cost the same for one release and for ten
//! thousand. What cannot be accepted is refused here, with the place.

mod check;
mod hosts;
mod release;

pub use release::{Pin, Release, Standing, Token, Version};

use crate::contract::{ContractError, CookieConfig, FilterConfig, HeaderNames, IdentityMode, Position};
use crate::identity::IdentityKey;
use crate::seal::Ring;
use hosts::HostIndex;

/// A configuration in force.
#[derive(Debug)]
pub struct Policy {
    /// Where the proxy stands.
    pub position: Position,
    /// The names of our headers.
    pub headers: HeaderNames,
    /// Signs and verifies.
    pub ring: Ring,
    /// The minted id's cookie.
    pub id_cookie: CookieConfig,
    /// How long a browser keeps a minted id, in seconds.
    pub id_max_age_seconds: u64,
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
    /// Fails on the first field that says something impossible, naming it. Does not fail on a configuration without
    /// releases, nor on a release at weight 0 or without a canary: those are ordinary states.
    pub fn compile(config: &FilterConfig) -> Result<Self, ContractError> {
        let ring = Ring::new(&config.keys)?;
        check::proxy(config)?;
        let mut releases = Vec::with_capacity(config.releases.len());
        let mut hosts = HostIndex::default();
        for (name, release) in &config.releases {
            let place = format!("releases.{name}");
            check::release(config, &ring, name, release)?;
            hosts.insert(&place, release, releases.len(), &releases)?;
            releases.push(Release::prepare(name, release));
        }
        Ok(Self {
            position: config.position,
            headers: config.headers.clone(),
            ring,
            id_cookie: config.id_cookie.clone(),
            id_max_age_seconds: config.id_max_age_seconds,
            filter_state: config.filter_state,
            debug_header: config.debug_header.clone(),
            identity_key: config.identity_key.as_ref().and_then(|secret| IdentityKey::new(secret.expose())),
            releases,
            hosts,
        })
    }

    /// A policy that touches no request: what a filter runs on that never had a good configuration.
    pub fn inert() -> Self {
        Self::compile(&FilterConfig::empty()).unwrap_or_else(|_| Self {
            position: Position::Edge,
            headers: HeaderNames::default(),
            ring: Ring::default(),
            id_cookie: CookieConfig::default_id(),
            id_max_age_seconds: 0,
            filter_state: false,
            debug_header: None,
            identity_key: None,
            releases: Vec::new(),
            hosts: HostIndex::default(),
        })
    }

    /// The release that a request concerns: by host (exact, then the longest wildcard, as Envoy picks a virtual host)
    /// and by the longest path prefix within it. `authority` and `path` as they are in the request.
    pub fn find(&self, authority: &[u8], path: &[u8]) -> Option<usize> {
        self.hosts.find(authority, path)
    }

    /// All releases, in the order of their names.
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
