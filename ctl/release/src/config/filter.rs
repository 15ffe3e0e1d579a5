//! The filter's configuration: one release, and all releases of one proxy.

use super::{Disagreement, SigningKeys};
use crate::config::{Error, cookies};
use crate::spec::{Release, ReleaseName};
use crate::state::ReleaseState;
use assignment::contract::{
    ContractError, Fallback, FilterConfig, HeaderNames, IdentityMode, KeySource, KeyUse, MintPolicy,
    OverrideConfig, OverrideMode, PinConfig, Position, ReleaseConfig, RingKey, Stickiness, TokenConfig,
};
use assignment::seal::baggage_keys;
use assignment::{FilterConfig as Config, Policy};
use std::collections::BTreeMap;

/// The key of our member in W3C baggage.
const BAGGAGE_KEY: &str = "canary";

/// The settings that a proxy has once, whatever its releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySettings {
    /// The proxy's position.
    pub position: Position,
    /// The minted id's cookie.
    pub id_cookie: assignment::contract::CookieConfig,
    /// The debug response header.
    pub debug_header: Option<String>,
    /// Whether filter state is written.
    pub filter_state: bool,
}

impl ProxySettings {
    /// The proxy settings of one release.
    pub fn of(release: &Release, position: Position) -> Self {
        Self {
            position,
            id_cookie: cookies::id(&release.cookies),
            debug_header: release.delivery.debug_header.clone(),
            filter_state: release.delivery.filter_state,
        }
    }

    /// The settings of a proxy that several releases share; the defaults if there is none.
    ///
    /// # Errors
    ///
    /// If the releases disagree about a setting.
    pub fn shared<'r>(
        releases: impl IntoIterator<Item = &'r Release>,
        position: Position,
    ) -> Result<Self, Error> {
        let mut releases = releases.into_iter();
        let Some(first) = releases.next() else {
            let id_cookie = assignment::contract::CookieConfig::default_id();
            return Ok(Self { position, id_cookie, debug_header: None, filter_state: false });
        };
        let settings = Self::of(first, position);
        for other in releases {
            if let Some((field, ours, theirs)) = settings.difference(&Self::of(other, position)) {
                return Err(Disagreement::error(field, (&first.name, ours), (&other.name, theirs)));
            }
        }
        Ok(settings)
    }
}

/// One release as a proxy at a position needs it.
pub fn release_config(release: &Release, state: &ReleaseState, position: Position) -> ReleaseConfig {
    let config = edge_config(release, state);
    match position {
        Position::Edge => config,
        Position::Mesh => inside(config, !release.gateways.is_empty()),
    }
}

fn edge_config(release: &Release, state: &ReleaseState) -> ReleaseConfig {
    let is_session = release.stickiness == Stickiness::Session;
    let token = || TokenConfig {
        cookie: cookies::token(&release.cookies, &release.name),
        query: cookies::TOKEN_PARAMETER.to_owned(),
        not_before_seconds: release.overrides.tokens_not_before_seconds,
    };
    let mode = release.overrides.mode;
    ReleaseConfig {
        uid: state.uid.clone(),
        generation: state.generation,
        hosts: release.hosts.clone(),
        paths: release.paths.clone(),
        salt: release.salt.clone().unwrap_or_else(|| release.default_salt()),
        train: release.train.clone(),
        stickiness: release.stickiness,
        weight: state.weight,
        until: state.until,
        versions: state.versions.clone(),
        gone: state.gone.clone(),
        identify_by: release.identify_by.clone(),
        session_cookie: release.session.cookie.clone(),
        installed_at_seconds: state.installed_at_seconds,
        adopt: (is_session && release.session.adopt).then(|| state.adopt.clone()),
        adopt_until_seconds: match state.installed_at_seconds {
            at if at > 0 && is_session && release.session.adopt => at + release.session.adopt_for.get(),
            _ => 0,
        },
        identity: release.identity,
        pin: is_session.then(|| PinConfig {
            cookie: cookies::pin(&release.cookies, &release.name),
            max_age_seconds: release.session.max_age.get(),
            idle_seconds: release.session.idle.map(crate::spec::Seconds::get),
        }),
        mint: release.mint,
        overrides: OverrideConfig { mode, token: (mode == OverrideMode::Token).then(token) },
        fallback: release.fallback,
        session_affinity: release.session_affinity,
        cache_control: release.cache_control,
        latency_histogram: release.latency_histogram,
        rollout_since_seconds: state.rollout_since_seconds,
        slower_than_milliseconds: state.slower_than_milliseconds,
        fuse: release.fuse,
    }
}

/// Inside the mesh the filter sets no cookies and reads no tokens: the edge has decided, and its identity comes before
/// other keys. A release outside a train propagates no decision, so there it is a pure function of the user.
///
/// The identity key finds people by dictionary, and more people can read the objects of an application's namespace than those of
/// a gateway's. So of a keyed release that has gateways a sidecar takes the propagated identity alone. Where it hashes no key itself, it needs no identity key.
fn inside(config: ReleaseConfig, has_gateways: bool) -> ReleaseConfig {
    let is_hashed_here = !(has_gateways && config.identity == IdentityMode::Keyed);
    let is_other = |key: &&KeySource| is_hashed_here && **key != KeySource::Identity {};
    let others: Vec<KeySource> = config.identify_by.iter().filter(is_other).cloned().collect();
    let hashes = !others.is_empty() || config.fallback == Fallback::ClientAddress;
    let identity = if hashes { config.identity } else { IdentityMode::Plain };
    let keys = std::iter::once(KeySource::Identity {}).chain(others).collect();
    let stickiness = if config.train.is_some() { config.stickiness } else { Stickiness::User };
    ReleaseConfig {
        identify_by: keys,
        identity,
        stickiness,
        pin: None,
        adopt: None,
        adopt_until_seconds: 0,
        mint: MintPolicy::Never,
        overrides: OverrideConfig::default(),
        ..config
    }
}

/// The configuration of one proxy.
///
/// # Errors
///
/// If the filter would refuse it.
pub fn filter_config(
    settings: &ProxySettings,
    keys: &SigningKeys,
    releases: BTreeMap<ReleaseName, ReleaseConfig>,
) -> Result<FilterConfig, Error> {
    let is_edge = settings.position == Position::Edge;
    let is_keyed = releases.values().any(|release| release.identity == IdentityMode::Keyed);
    // A release outside a train propagates no decision.
    let is_carried = releases.values().any(|release| release.train.is_some());
    let config = Config {
        position: settings.position,
        headers: HeaderNames::default(),
        id_cookie: settings.id_cookie.clone(),
        keys: match (is_edge, is_carried) {
            (true, _) => keys.keys.clone(),
            (false, true) => verifying(baggage_keys(&keys.keys)),
            (false, false) => Vec::new(),
        },
        baggage: is_carried.then(|| BAGGAGE_KEY.to_owned()),
        // A secret is written only where it is used.
        identity_key: keys.identity_key.clone().filter(|_| is_keyed),
        filter_state: settings.filter_state,
        debug_header: settings.debug_header.clone(),
        releases: releases.into_iter().map(|(name, release)| (name.to_string(), release)).collect(),
        ..Config::empty()
    };
    Policy::compile(&config)?;
    Ok(config)
}

/// Inside the mesh nothing is signed.
fn verifying(keys: Vec<RingKey>) -> Vec<RingKey> {
    keys.into_iter().map(|key| RingKey { usage: KeyUse::Verify, ..key }).collect()
}

/// Whether the filter would accept this release at its first generation, whatever the keys.
///
/// # Errors
///
/// If it would not.
pub fn acceptable(release: &Release) -> Result<(), ContractError> {
    let uid = release.uid.clone().unwrap_or_else(|| "placeholder".to_owned());
    let state = ReleaseState::first(release, uid);
    let config = release_config(release, &state, Position::Edge);
    let releases = BTreeMap::from([(release.name.clone(), config)]);
    match filter_config(&ProxySettings::of(release, Position::Edge), &SigningKeys::placeholder(), releases) {
        Err(Error::Contract(error)) => Err(error),
        Err(Error::HostTaken { host, release, other }) => {
            Err(ContractError::HostTaken { release, host, other })
        }
        _ => Ok(()),
    }
}
