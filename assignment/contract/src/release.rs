//! One release, as the filter needs it.

use super::{CookieConfig, KeySource};
use crate::Weight;
use serde::Serialize;

/// What one release asks of the filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseConfig {
    /// Tells this release from an earlier one of the same name; part of everything that is signed.
    pub uid: String,
    /// Rises with every change that the CLI writes; the proxies report it back.
    pub generation: u64,
    /// Host names, lower case, without port: exact, `*.suffix`, or `*`.
    pub hosts: Vec<String>,
    /// Path prefixes, by byte. Default: everything.
    pub paths: Vec<String>,
    /// Makes this release draw other users than the next.
    pub salt: String,
    /// The train whose decision travels with the request, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<String>,
    /// Whether a user may move when the weight does.
    pub stickiness: Stickiness,
    /// The canary's share of users, in basis points.
    pub weight: Weight,
    /// When the canary ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The live versions: one stable, at most one canary, any number draining.
    pub versions: Vec<VersionConfig>,
    /// Versions that are gone: their pins are decided anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<GoneVersion>,
    /// Where the user's key may be, in order.
    pub keys: Vec<KeySource>,
    /// The application's session cookie, in whose response the pin is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_cookie: Option<String>,
    /// The version that was stable when the filter came: where sessions older than the filter live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopt: Option<String>,
    /// When this release came to the proxy, seconds since 1970-01-01 UTC: a minted id from before then does not say that
    /// its session is younger than the release. 0 where it is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub installed_at_seconds: u64,
    /// Whether identities of this release are keyed.
    pub identity: IdentityMode,
    /// The pin, needed for `stickiness: session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<PinConfig>,
    /// When a user without a key is given one.
    pub mint: MintPolicy,
    /// How testers ask for a version.
    #[serde(rename = "override")]
    pub overrides: OverrideConfig,
    /// What a request gets for which nothing else holds.
    pub fallback: Fallback,
    /// Whether subsets hash on the identity header.
    pub pod_affinity: PodAffinity,
    /// What happens to cacheable answers of a version that is not stable.
    pub caches: CachePolicy,
    /// Whether the time to the answer's headers is kept as a histogram.
    #[serde(skip_serializing_if = "is_false")]
    pub latency_histogram: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Whether a user may move when the weight does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Stickiness {
    /// A pure function of identity, salt and weight, for applications whose state survives a move.
    User,
    /// Decided once per session and pinned, for applications that keep state in the pod.
    Session,
}

/// A moment at which the canary ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Until {
    /// Seconds since 1970-01-01 UTC.
    pub at_seconds: u64,
    /// What happens then.
    pub action: UntilAction,
}

/// What happens at [`Until::at_seconds`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum UntilAction {
    /// As weight 0: no new users, sessions finish.
    #[default]
    Zero,
    /// As rolled back: the canary is gone with the next request.
    Rollback,
}

/// A version that is live in this proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionConfig {
    /// The value of the pods' version label.
    pub name: String,
    /// What the version is for at the moment.
    pub role: Role,
    /// Counts how often the version (re)entered the release: pins of an older epoch are pins of a version that is gone.
    pub epoch: u32,
}

/// What a version is for at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Where everyone is on doubt.
    Stable,
    /// The version under test.
    Canary,
    /// Takes nobody new; its sessions finish.
    Draining,
}

impl Role {
    /// The role's name on the wire: cohort header, metrics, debug header.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Canary => "canary",
            Self::Draining => "draining",
        }
    }

    /// The role of a name on the wire.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        [Self::Stable, Self::Canary, Self::Draining].into_iter().find(|role| role.as_str().as_bytes() == name)
    }
}

/// A version whose pins no longer count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GoneVersion {
    /// The version's name.
    pub name: String,
    /// Pins of this epoch and older are gone.
    pub epoch: u32,
}

/// Whether identities are keyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum IdentityMode {
    /// The hash of the key: right for random session ids.
    #[default]
    Plain,
    /// HMAC with the proxy's identity key: right for keys that name a person.
    Keyed,
}

/// The cookie that keeps a session where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PinConfig {
    /// Name and attributes.
    pub cookie: CookieConfig,
    /// Past this age, in seconds, a pin is renewed if the session cookie is there and decided anew if not.
    pub max_age_seconds: u64,
    /// Gives the cookie an age of its own, in seconds, refreshed past half of it. Default: the browser's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u64>,
}

/// When a user without a key is given one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MintPolicy {
    /// When a browser loads a page.
    #[default]
    Navigation,
    /// Whenever cookies are possible at all.
    Always,
    /// Never.
    Never,
}

/// How testers ask for a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverrideConfig {
    /// Who may ask.
    pub mode: OverrideMode,
    /// Where tokens are and which are revoked, for [`OverrideMode::Token`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenConfig>,
}

/// Who may ask for a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OverrideMode {
    /// Nobody.
    #[default]
    Off,
    /// Who has a signed, expiring token.
    Token,
    /// Everybody, by the override header. For networks that are trusted.
    Open,
}

/// Where override tokens are found besides the token header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenConfig {
    /// The cookie that carries a token.
    pub cookie: CookieConfig,
    /// The query parameter that sets the cookie.
    pub query: String,
    /// Tokens issued before this moment (seconds since 1970-01-01 UTC) are revoked.
    pub not_before_seconds: u64,
}

/// What a request gets for which nothing else holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fallback {
    /// The stable version.
    #[default]
    Stable,
    /// By the bucket of the client's address.
    ClientAddress,
}

/// Whether the pods of a subset are chosen by identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PodAffinity {
    /// The host's own policy, or none.
    #[default]
    None,
    /// Subsets hash on the identity header, so every row writes one.
    Identity,
}

/// What happens to cacheable answers of a version that is not stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CachePolicy {
    /// They pass as they are.
    #[default]
    Pass,
    /// They become `private`, so that no shared cache hands the canary to everyone.
    Guard,
}
