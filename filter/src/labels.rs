//! Names of metrics and texts for logs.
//!
//! Metric names follow the tag patterns that every Istio proxy has built in, so that labels need no set-up:
//! `component.<x>.` and `tag.<y>;.` become the labels `component` and `tag`
//! (`canary_requests_total{component="shop/shop",tag="v2/canary/pin"}`).

use assignment::policy::{Release, SessionAge, Version};
use assignment::{CohortMark, Decision, Reason};

/// Requests by release, version, role and reason. Counter.
pub fn requests(release: &Release, version: &Version, reason: Reason) -> String {
    let (name, role) = (&release.name, version.role.as_str());
    format!("canary_requests.component.{name}.tag.{}/{role}/{};.total", version.name, reason.as_str())
}

/// Responses by release, version, role and status class. Counter. Testers' responses count under the role `override`, so
/// that they do not colour the analysis.
pub fn responses(release: &Release, version: &Version, is_override: bool, class: StatusClass) -> String {
    let role = if is_override { Reason::Override.as_str() } else { version.role.as_str() };
    format!(
        "canary_responses.component.{}.tag.{}/{role}/{};.total",
        release.name,
        version.name,
        class.as_str()
    )
}

/// A counter by user group while a rollout runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupCounter {
    Requests,
    /// Responses, whatever their status.
    Responses,
    /// Responses with a status of 500 and up, a gRPC status of a server's fault, or a body that was broken off. The last two are known
    /// after the response was counted.
    ServerErrors,
    /// Responses with a status of 400 to 499.
    ClientErrors,
    /// Responses that took longer than the release allows.
    SlowResponses,
    /// Requests that had no response in time ([`crate::fuse::Waiting`]). A late one is counted as a response all the same.
    Unanswered,
    /// Responses that take the session from their request ([`crate::response::LostSession`]).
    LostSessions,
    /// Those of them after which it is shorter by a quarter or more, or gone.
    EmptiedSessions,
}

impl GroupCounter {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Requests,
        Self::Responses,
        Self::ServerErrors,
        Self::ClientErrors,
        Self::SlowResponses,
        Self::Unanswered,
        Self::LostSessions,
        Self::EmptiedSessions,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Responses => "responses",
            Self::ServerErrors => "server_errors",
            Self::ClientErrors => "client_errors",
            Self::SlowResponses => "slow_responses",
            Self::Unanswered => "unanswered",
            Self::LostSessions => "lost_sessions",
            Self::EmptiedSessions => "emptied_sessions",
        }
    }
}

/// Requests or responses by release, version and user group, 0 to 15. Counter.
pub fn by_group(release: &Release, version: &Version, what: GroupCounter, group: usize) -> String {
    let (what, name) = (what.as_str(), &release.name);
    format!("canary_group_{what}.component.{name}.tag.{}/{group};.total", version.name)
}

/// Whether a release may have counters by user group: while its rollout runs, and in a train, where the rollout of another release
/// may.
pub const fn has_group_counters(release: &Release) -> bool {
    release.rollout_since_seconds > 0 || release.train.is_some()
}

/// Whether a request counts by user group: those of users, of sessions that are not older than the rollout, decided here or, in a
/// train, at an edge where a rollout runs. Left out are testers, and users who are on another version than their own or in doubt.
pub fn is_counted_by_group(release: &Release, decision: &Decision) -> bool {
    let is_in_rollout = match decision.reason {
        Reason::Pin | Reason::Hash | Reason::Minted | Reason::Fallback => release.rollout_since_seconds > 0,
        Reason::Cohort => true,
        _ => false,
    };
    is_in_rollout && decision.session_age == SessionAge::New
}

/// The mark by which the next services of a train count a request like this proxy.
pub fn cohort_mark(release: &Release, decision: &Decision) -> Option<CohortMark> {
    match decision.reason {
        Reason::Override => Some(CohortMark::Override),
        _ => is_counted_by_group(release, decision).then_some(CohortMark::New),
    }
}

/// Milliseconds from a request's headers to its response's, by release, version and role, if the release enables it.
/// Histogram. Testers' responses apart, as in [`responses`].
pub fn latency(release: &Release, version: &Version, is_override: bool) -> String {
    let role = if is_override { Reason::Override.as_str() } else { version.role.as_str() };
    format!("canary_latency.component.{}.tag.{}/{role};.milliseconds", release.name, version.name)
}

/// Requests that count for the fuse as failed because they have no response ([`crate::fuse::Waiting`]), by release, version and
/// role. Counter.
pub fn unanswered(release: &Release, version: &Version) -> String {
    let (name, role) = (&release.name, version.role.as_str());
    format!("canary_unanswered.component.{name}.tag.{}/{role};.total", version.name)
}

/// The generation that runs, by release and installation: the tag is the second since 1970 at which the release was installed.
/// Gauge. Envoy keeps a gauge as long as a drained listener, so without the tag a reinstalled release would show the generation of
/// the installation before it.
pub fn generation(release: &Release) -> String {
    format!("canary_generation.component.{}.tag.{};.active", release.name, release.installed_at_seconds)
}

/// The second since 1970 at which the fuse of a canary closes, or has closed. Gauge. A time and not a flag: nothing resets it where no
/// request comes any more. With the version's epoch: a version that comes back has a new fuse.
pub fn fuse(release: &Release, version: &Version) -> String {
    let (name, epoch) = (&release.name, version.epoch);
    format!("canary_fuse.component.{name}.tag.{}/{epoch};.open_until_seconds", version.name)
}

/// 1 where this proxy never had a configuration that it could accept. Gauge.
pub const INERT: &str = "canary_inert";

/// The class of a status code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusClass {
    /// 100 to 199, an upgrade for instance.
    Informational,
    /// 200 to 299.
    Success,
    /// 300 to 399.
    Redirect,
    /// 400 to 499.
    ClientError,
    /// 500 and up.
    ServerError,
}

impl StatusClass {
    pub const ALL: [Self; 5] =
        [Self::Informational, Self::Success, Self::Redirect, Self::ClientError, Self::ServerError];

    /// The class of a `:status` value.
    pub fn of(status: &[u8]) -> Self {
        match status.first() {
            Some(b'1') => Self::Informational,
            Some(b'2') => Self::Success,
            Some(b'3') => Self::Redirect,
            Some(b'4') => Self::ClientError,
            _ => Self::ServerError,
        }
    }

    /// The class in its usual spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Informational => "1xx",
            Self::Success => "2xx",
            Self::Redirect => "3xx",
            Self::ClientError => "4xx",
            Self::ServerError => "5xx",
        }
    }
}

/// The filter state for access logs, `%FILTER_STATE(wasm.canary:PLAIN)%`: `shop/shop/v2;pin`.
pub fn filter_state(release: &Release, decision: &Decision) -> String {
    let version = release.versions.get(decision.version).map_or("", |version| version.name.as_str());
    // Not the routing header's value, which may be one that no client knows.
    format!("{}/{version};{}", release.name, decision.reason.as_str())
}

/// The debug header: everything that was decided, for test systems.
pub fn debug(release: &Release, decision: &Decision) -> String {
    let version = release.versions.get(decision.version);
    let (name, role) = version.map_or(("", ""), |version| (version.name.as_str(), version.role.as_str()));
    let (uid, generation, reason) = (&release.name, release.generation, decision.reason.as_str());
    let bucket = decision.bucket.map_or(String::new(), |bucket| format!("; bucket={}", bucket.number()));
    let identity = decision.identity.map_or(String::new(), |identity| format!("; identity={identity}"));
    format!(
        "release={uid}; version={name}; role={role}; reason={reason}{bucket}{identity}; generation={generation}"
    )
}
