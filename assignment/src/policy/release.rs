//! One release, prepared for look-up.

use crate::contract::{
    CacheControl, ExpiryAction, Fallback, GoneVersion, IdentityMode, KeySource, MintPolicy, OverrideMode,
    PinConfig, ReleaseConfig, Role, SessionAffinity, Stickiness, TokenConfig, Until, VersionConfig,
};
use crate::request::session_pin_name;
use crate::{Salt, Weight};

/// A release in force.
#[derive(Debug)]
pub struct Release {
    /// `<namespace>/<name>`.
    pub name: String,
    /// Part of everything signed for this release.
    pub uid: String,
    /// Reported back by the proxies.
    pub generation: u64,
    /// The salt, hashed.
    pub salt: Salt,
    /// The train, if any.
    pub train: Option<String>,
    /// Whether users may move when the weight does.
    pub stickiness: Stickiness,
    /// The live versions.
    pub versions: Vec<Version>,
    /// The sources of the key, in order.
    pub identify_by: Vec<KeySource>,
    /// The application's session cookie.
    pub session_cookie: Option<String>,
    /// The version of sessions that are older than the filter.
    pub adopt: Option<String>,
    /// When adoption ends; 0: never.
    pub adopt_until_seconds: u64,
    /// When this release came to the proxy; 0 where it is not known.
    pub installed_at_seconds: u64,
    /// The pin's cookie and ages.
    pub pin: Option<PinConfig>,
    /// The name of the pins that belong to one session each; empty where none is written.
    pub session_pin_name: String,
    /// When ids are minted.
    pub mint: MintPolicy,
    /// The clients that may override.
    pub override_mode: OverrideMode,
    /// The places of tokens.
    pub token: Option<TokenConfig>,
    /// The version of requests that no other row decides.
    pub fallback: Fallback,
    /// Whether subsets hash on the identity header.
    pub session_affinity: SessionAffinity,
    /// The handling of cacheable responses.
    pub cache_control: CacheControl,
    /// Whether latencies are kept.
    pub latency_histogram: bool,
    /// When the rollout began that runs; 0 where none does.
    pub rollout_since_seconds: u64,
    /// From which time on a response counts as slow in it; 0 where none does.
    pub slower_than_milliseconds: u64,
    /// Whether a proxy that sees the canary fail sends new sessions to stable.
    pub fuse: bool,
    pub(super) identity_mode: IdentityMode,
    weight: Weight,
    until: Option<Until>,
    gone: Vec<GoneVersion>,
    stable: usize,
    canary: Option<usize>,
}

/// A version in force.
#[derive(Debug)]
pub struct Version {
    /// The pods' version label.
    pub name: String,
    /// Its role now.
    pub role: Role,
    /// Its epoch.
    pub epoch: u32,
    /// The routing header's value, ready to be written.
    pub routing_value: String,
    /// The cohort header's value for the release's train, ready to be written; empty without a train.
    pub cohort_value: String,
    /// The same for baggage, `<train>.<role>`; empty without a train.
    pub baggage_value: String,
}

/// The state of a version that a pin or a token names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinStatus {
    /// Live, at this index.
    Live(usize),
    /// Listed under `gone`, or of an older epoch.
    Gone,
    /// Unknown to this proxy, which may lag behind another.
    Unknown,
}

/// A train and a role as one text, ready to be written for the next services; empty without a train.
fn train_member(train: Option<&str>, between: &str, role: Role) -> String {
    train.map_or(String::new(), |train| [train, between, role.as_str()].concat())
}

impl Release {
    /// Prepares a release that has passed the checks.
    pub(super) fn prepare(name: String, config: ReleaseConfig) -> Self {
        let index_of = |role| config.versions.iter().position(|version| version.role == role);
        let (stable, canary) = (index_of(Role::Stable).unwrap_or_default(), index_of(Role::Canary));
        let train = config.train;
        let prepare_version = |version: VersionConfig| Version {
            routing_value: version.routing.unwrap_or_else(|| format!("{name}/{}", version.name)),
            cohort_value: train_member(train.as_deref(), "=", version.role),
            baggage_value: train_member(train.as_deref(), ".", version.role),
            name: version.name,
            role: version.role,
            epoch: version.epoch,
        };
        let pinned = config.pin.as_ref().filter(|_| config.session_cookie.is_some());
        Self {
            session_pin_name: pinned.map_or(String::new(), |pin| session_pin_name(&pin.cookie.name)),
            uid: config.uid,
            generation: config.generation,
            salt: Salt::new(&config.salt),
            stickiness: config.stickiness,
            versions: config.versions.into_iter().map(prepare_version).collect(),
            identify_by: config.identify_by,
            session_cookie: config.session_cookie,
            adopt: config.adopt,
            adopt_until_seconds: config.adopt_until_seconds,
            installed_at_seconds: config.installed_at_seconds,
            pin: config.pin,
            mint: config.mint,
            override_mode: config.overrides.mode,
            token: config.overrides.token,
            fallback: config.fallback,
            session_affinity: config.session_affinity,
            cache_control: config.cache_control,
            latency_histogram: config.latency_histogram,
            rollout_since_seconds: config.rollout_since_seconds,
            slower_than_milliseconds: config.slower_than_milliseconds,
            fuse: config.fuse,
            identity_mode: config.identity,
            weight: config.weight,
            until: config.until,
            gone: config.gone,
            stable,
            canary,
            name,
            train,
        }
    }

    /// The stable version's index.
    pub const fn stable(&self) -> usize {
        self.stable
    }

    /// The canary's index, if it is live at this moment.
    pub fn canary(&self, now: impl FnOnce() -> u64) -> Option<usize> {
        match self.until {
            Some(Until { at_seconds, action: ExpiryAction::Rollback }) if now() >= at_seconds => None,
            _ => self.canary,
        }
    }

    /// The weight at this moment: 0 past [`Until`], whatever its action. The clock is read only where it matters.
    pub fn weight(&self, now: impl FnOnce() -> u64) -> Weight {
        match self.until {
            Some(until) if now() >= until.at_seconds => Weight::ZERO,
            _ => self.weight,
        }
    }

    /// The configured weight, without regard to `until`.
    pub const fn configured_weight(&self) -> Weight {
        self.weight
    }

    /// The index of a live version by name.
    pub fn live(&self, name: &[u8], now: impl FnOnce() -> u64) -> Option<usize> {
        let index = self.versions.iter().position(|version| version.name.as_bytes() == name)?;
        if Some(index) == self.canary { self.canary(now) } else { Some(index) }
    }

    /// The index of a live version by role.
    pub fn live_role(&self, role: Role, now: impl FnOnce() -> u64) -> Option<usize> {
        match role {
            Role::Canary => self.canary(now),
            _ => self.versions.iter().position(|version| version.role == role),
        }
    }

    /// The state of the version that a genuine pin or token names.
    ///
    /// A newer epoch than ours is [`PinStatus::Unknown`]: this proxy lags behind another.
    pub fn pin_status(&self, name: &[u8], epoch: u32, now: impl FnOnce() -> u64) -> PinStatus {
        let known = self.versions.iter().enumerate().find(|(_, version)| version.name.as_bytes() == name);
        if let Some((index, version)) = known {
            return match version.epoch.cmp(&epoch) {
                std::cmp::Ordering::Less => PinStatus::Unknown,
                std::cmp::Ordering::Greater => PinStatus::Gone,
                std::cmp::Ordering::Equal if Some(index) == self.canary => {
                    self.canary(now).map_or(PinStatus::Gone, PinStatus::Live)
                }
                std::cmp::Ordering::Equal => PinStatus::Live(index),
            };
        }
        let gone = self.gone.iter().any(|gone| gone.name.as_bytes() == name && epoch <= gone.epoch);
        if gone { PinStatus::Gone } else { PinStatus::Unknown }
    }

    /// Whether the time that a response takes matters.
    pub const fn is_timed(&self) -> bool {
        self.latency_histogram || self.slower_than_milliseconds > 0
    }

    /// Whether the identity header is written for the next hop.
    pub fn writes_identity(&self) -> bool {
        self.train.is_some() || self.session_affinity == SessionAffinity::Identity
    }
}
