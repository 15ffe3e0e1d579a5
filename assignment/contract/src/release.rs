//! One release, as the filter needs it.

use super::{CookieConfig, KeySource};
use crate::Weight;
use serde::Serialize;

/// The configuration of one release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseConfig {
    /// Distinguishes this release from an earlier one of the same name; part of every signed text.
    pub uid: String,
    /// Rises with every change that the CLI writes; the proxies report it back.
    pub generation: u64,
    /// Host names, lower case, without port: exact, `*.suffix`, or `*`.
    pub hosts: Vec<String>,
    /// Path prefixes, by byte. Default: everything.
    pub paths: Vec<String>,
    /// Makes the buckets of this release independent of those of other releases.
    pub salt: String,
    /// The train whose decision is propagated with the request, if any.
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
    /// Versions that were removed: requests with their pins are decided again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<GoneVersion>,
    /// The sources of the user key, in order.
    pub identify_by: Vec<KeySource>,
    /// The application's session cookie, in whose response the pin is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_cookie: Option<String>,
    /// The version that was stable when the filter was installed: sessions older than the filter stay on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopt: Option<String>,
    /// The end of the adoption, seconds since 1970-01-01 UTC: a session that has been silent until then is no older session any more.
    /// 0: it has no end.
    #[serde(skip_serializing_if = "is_zero")]
    pub adopt_until_seconds: u64,
    /// When this release was installed in the proxy, seconds since 1970-01-01 UTC. A minted id that was issued earlier
    /// does not prove that its session is younger than the release. 0 if unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub installed_at_seconds: u64,
    /// Whether identities of this release are keyed.
    pub identity: IdentityMode,
    /// The pin, needed for `stickiness: session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<PinConfig>,
    /// When an id is minted for a user without a key.
    pub mint: MintPolicy,
    /// The way in which testers choose a version.
    #[serde(rename = "override")]
    pub overrides: OverrideConfig,
    /// The version of a request that no other rule decides.
    pub fallback: Fallback,
    /// Whether subsets hash on the identity header.
    pub session_affinity: SessionAffinity,
    /// The handling of cacheable responses of a version that is not stable.
    pub cache_control: CacheControl,
    /// Whether the time to the response's headers is kept as a histogram.
    #[serde(skip_serializing_if = "is_false")]
    pub latency_histogram: bool,
    /// When the rollout that goes by itself began, seconds since 1970-01-01 UTC: until it ends requests and responses are
    /// counted by user group. 0: none runs.
    #[serde(skip_serializing_if = "is_zero")]
    pub rollout_since_seconds: u64,
    /// A response whose headers come later than this, in milliseconds, counts as slow while a rollout runs. 0: none does.
    #[serde(skip_serializing_if = "is_zero")]
    pub slower_than_milliseconds: u64,
    /// Whether a proxy that sees the canary fail, and stable not, sends new sessions to stable for a time.
    #[serde(skip_serializing_if = "is_false")]
    pub fuse: bool,
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

/// The expiry of the canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Until {
    /// Seconds since 1970-01-01 UTC.
    pub at_seconds: u64,
    /// The change at that time.
    pub action: ExpiryAction,
}

/// The change at [`Until::at_seconds`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ExpiryAction {
    /// Same as weight 0: no new users, existing sessions stay.
    #[default]
    Stop,
    /// Same as a rollback: the next request of each user goes to stable.
    Rollback,
}

/// A version that is live in this proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionConfig {
    /// The value of the pods' version label.
    pub name: String,
    /// The current purpose of the version.
    pub role: Role,
    /// Counts how often the version was added to the release: pins of an older epoch are treated as pins of a removed
    /// version.
    pub epoch: u32,
    /// The routing header's value. Default: `<release>/<version>`. Where clients may reach the routes without this filter, one that they
    /// cannot guess.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<String>,
}

/// The current purpose of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The default: used whenever a request cannot be decided.
    Stable,
    /// The version under test.
    Canary,
    /// Receives no new sessions; existing sessions stay until they end.
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
    /// Pins of this epoch and older are no longer valid.
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

/// The cookie that keeps a session on its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PinConfig {
    /// Name and attributes.
    pub cookie: CookieConfig,
    /// Past this age, in seconds, a pin is renewed if the request has the session cookie; otherwise the request is
    /// decided again.
    pub max_age_seconds: u64,
    /// Gives the cookie an age of its own, in seconds, refreshed past half of it. Default: the browser's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u64>,
}

/// When an id is minted for a user without a key.
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

/// The way in which testers choose a version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverrideConfig {
    /// The clients that may choose a version.
    pub mode: OverrideMode,
    /// The places of tokens and their revocation, for [`OverrideMode::Token`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenConfig>,
}

/// The clients that may choose a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OverrideMode {
    /// Overrides are disabled.
    #[default]
    Off,
    /// Clients with a signed token that has not expired.
    Token,
    /// Any client, by the override header. For trusted networks.
    Open,
}

/// The places of override tokens besides the token header.
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

/// The version of a request that no other rule decides.
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
pub enum SessionAffinity {
    /// The host's own policy, or none.
    #[default]
    None,
    /// Subsets hash on the identity header, so every row writes one.
    Identity,
}

/// The handling of cacheable responses of a version that is not stable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CacheControl {
    /// Their caching headers stay unchanged.
    #[default]
    Unchanged,
    /// They become `private`, so that no shared cache serves the canary's response to all users.
    Private,
}
