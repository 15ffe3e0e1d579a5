//! The fields of a release, as they are read.

use super::read::{Fields, Place, Read, deserialize_by_reading, words};
use super::{
    CacheControl, ExpiryAction, Fallback, GoneVersion, IdentityMode, MintPolicy, OverrideConfig,
    OverrideMode, PinConfig, ReleaseConfig, Role, SessionAffinity, Stickiness, TokenConfig, Until,
    VersionConfig,
};
use serde_json::Value;

/// The default absolute age of a pin, in seconds: a day.
const DEFAULT_PIN_MAX_AGE: u64 = 24 * 3600;

impl Read for ReleaseConfig {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self {
            uid: fields.required("uid"),
            generation: fields.required("generation"),
            hosts: fields.required("hosts"),
            paths: fields.optional("paths").unwrap_or_else(|| vec!["/".to_owned()]),
            salt: fields.required("salt"),
            train: fields.optional("train"),
            stickiness: fields.required("stickiness"),
            weight: fields.or_default("weight"),
            until: fields.optional("until"),
            versions: fields.required("versions"),
            gone: fields.or_default("gone"),
            identify_by: fields.or_default("identifyBy"),
            session_cookie: fields.optional("sessionCookie"),
            adopt: fields.optional("adopt"),
            adopt_until_seconds: fields.or_default("adoptUntilSeconds"),
            installed_at_seconds: fields.or_default("installedAtSeconds"),
            identity: fields.or_default("identity"),
            pin: fields.optional("pin"),
            mint: fields.or_default("mint"),
            overrides: fields.or_default("override"),
            fallback: fields.or_default("fallback"),
            session_affinity: fields.or_default("sessionAffinity"),
            cache_control: fields.or_default("cacheControl"),
            latency_histogram: fields.or_default("latencyHistogram"),
            rollout_since_seconds: fields.or_default("rolloutSinceSeconds"),
            slower_than_milliseconds: fields.or_default("slowerThanMilliseconds"),
            fuse: fields.or_default("fuse"),
        }
    }
}

impl Read for Until {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self { at_seconds: fields.required("atSeconds"), action: fields.or_default("action") }
    }
}

impl Read for VersionConfig {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self {
            name: fields.required("name"),
            role: fields.required("role"),
            epoch: fields.required("epoch"),
            routing: fields.optional("routing"),
        }
    }
}

impl Read for GoneVersion {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self { name: fields.required("name"), epoch: fields.required("epoch") }
    }
}

impl Read for PinConfig {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self {
            cookie: fields.required("cookie"),
            max_age_seconds: fields.optional("maxAgeSeconds").unwrap_or(DEFAULT_PIN_MAX_AGE),
            idle_seconds: fields.optional("idleSeconds"),
        }
    }
}

impl Read for OverrideConfig {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self { mode: fields.or_default("mode"), token: fields.optional("token") }
    }
}

impl Read for TokenConfig {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let fields = Fields::of(value, at);
        Self {
            cookie: fields.required("cookie"),
            query: fields.required("query"),
            not_before_seconds: fields.or_default("notBeforeSeconds"),
        }
    }
}

words! {
    Stickiness { "user" => User, "session" => Session }
    ExpiryAction { "stop" => Stop, "rollback" => Rollback }
    Role { "stable" => Stable, "canary" => Canary, "draining" => Draining }
    IdentityMode { "plain" => Plain, "keyed" => Keyed }
    MintPolicy { "navigation" => Navigation, "always" => Always, "never" => Never }
    OverrideMode { "off" => Off, "token" => Token, "open" => Open }
    Fallback { "stable" => Stable, "clientAddress" => ClientAddress }
    SessionAffinity { "none" => None, "identity" => Identity }
    CacheControl { "unchanged" => Unchanged, "private" => Private }
}

deserialize_by_reading!(
    ReleaseConfig,
    Until,
    VersionConfig,
    GoneVersion,
    PinConfig,
    OverrideConfig,
    TokenConfig,
    Stickiness,
    ExpiryAction,
    Role,
    IdentityMode,
    MintPolicy,
    OverrideMode,
    Fallback,
    SessionAffinity,
    CacheControl,
);
