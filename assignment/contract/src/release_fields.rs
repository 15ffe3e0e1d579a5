//! The fields of a release, as they are read.

use super::read::{Fields, Place, Read, deserialize_by_reading, words};
use super::{
    CachePolicy, Fallback, GoneVersion, IdentityMode, MintPolicy, OverrideConfig, OverrideMode, PinConfig,
    PodAffinity, ReleaseConfig, Role, Stickiness, TokenConfig, Until, UntilAction, VersionConfig,
};
use serde_json::Value;

/// The absolute age of a pin where nothing else is said, in seconds: a day.
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
            keys: fields.or_default("keys"),
            session_cookie: fields.optional("sessionCookie"),
            adopt: fields.optional("adopt"),
            installed_at_seconds: fields.or_default("installedAtSeconds"),
            identity: fields.or_default("identity"),
            pin: fields.optional("pin"),
            mint: fields.or_default("mint"),
            overrides: fields.or_default("override"),
            fallback: fields.or_default("fallback"),
            pod_affinity: fields.or_default("podAffinity"),
            caches: fields.or_default("caches"),
            latency_histogram: fields.or_default("latencyHistogram"),
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
        Self { name: fields.required("name"), role: fields.required("role"), epoch: fields.required("epoch") }
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
    UntilAction { "zero" => Zero, "rollback" => Rollback }
    Role { "stable" => Stable, "canary" => Canary, "draining" => Draining }
    IdentityMode { "plain" => Plain, "keyed" => Keyed }
    MintPolicy { "navigation" => Navigation, "always" => Always, "never" => Never }
    OverrideMode { "off" => Off, "token" => Token, "open" => Open }
    Fallback { "stable" => Stable, "clientAddress" => ClientAddress }
    PodAffinity { "none" => None, "identity" => Identity }
    CachePolicy { "pass" => Pass, "guard" => Guard }
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
    UntilAction,
    Role,
    IdentityMode,
    MintPolicy,
    OverrideMode,
    Fallback,
    PodAffinity,
    CachePolicy,
);
