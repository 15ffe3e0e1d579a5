//! What the decision changes in the response's headers: pins, minted ids, caching.
//!
//! ```text
//! pins          the pins of sessions and of the host
//! caching       whether a shared cache may keep the response
//! end           how the response ends: broken off, or with a gRPC status
//! lost_session  whether the response takes the session from its request
//! set_cookie    lines of `Set-Cookie`, read and written; `date` reads their `Expires`
//! ```

mod caching;
mod date;
mod end;
mod lost_session;
mod pins;
mod set_cookie;

use crate::edit::HeaderEdits;
use crate::fuse::Waiting;
use crate::labels::{self, StatusClass};
use assignment::contract::{CacheControl, KeySource, Position, Stickiness};
use assignment::decide::{KeyOrigin, PinAction};
use assignment::policy::Release;
use assignment::request::Headers;
use assignment::seal::Seal;
use assignment::{Decision, Policy, Request};
use caching::Caching;
use lost_session::SessionCookies;
use set_cookie::{SessionChange, SetCookie};

pub use end::{grpc_status, is_broken_off, is_grpc_failure};
pub use lost_session::LostSession;

/// The `grpc-status` UNAVAILABLE.
const GRPC_UNAVAILABLE: &[u8] = b"14";

/// The state of a request that its response needs.
#[derive(Clone, Debug)]
pub struct RequestState {
    /// The decision.
    pub decision: Decision,
    /// When, in nanoseconds since 1970-01-01 UTC, where the release keeps latencies.
    pub decided_at: Option<u64>,
    /// Whether it waits for a response whose absence is a failure.
    pub waiting: Waiting,
    /// Whether the headers of its response have come, and how that ends counts.
    pub awaits_end: bool,
    is_navigation: bool,
    is_cacheable_method: bool,
    /// `None` outside of a rollout.
    session: SessionCookies,
}

impl RequestState {
    /// The state after a decision.
    pub fn new(decision: Decision, request: &Request<'_>) -> Self {
        Self {
            decision,
            decided_at: None,
            waiting: Waiting::default(),
            awaits_end: false,
            is_navigation: request.is_navigation(),
            is_cacheable_method: request.is_cacheable_method(),
            session: None,
        }
    }
}

/// The version that sent a response, as the response reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub class: StatusClass,
    /// Whether it speaks against its version: a status of 500 and up, or a gRPC status that says the same.
    pub has_failed: bool,
    /// Whether it is what Envoy gives for a cluster without healthy pods, 503 or UNAVAILABLE, if its details say so too.
    pub may_be_unavailable: bool,
    /// Whether it has ended the session that its request had.
    pub lost_session: Option<LostSession>,
}

/// The headers that decide whether a response needs an edit, read in one pass. Most responses need none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseSummary<'h> {
    /// `:status`; empty if the proxy gives none.
    pub status: &'h [u8],
    /// Empty but in a gRPC response without messages.
    pub grpc_status: &'h [u8],
    pub sets_cookie: bool,
}

impl<'h> ResponseSummary<'h> {
    /// Summarises a response.
    pub fn of(response: Headers<'h>) -> Self {
        let mut summary = Self { status: b"", grpc_status: b"", sets_cookie: false };
        for (name, value) in &response {
            match name {
                b":status" => summary.status = value,
                b"set-cookie" => summary.sets_cookie = true,
                end::GRPC_STATUS => summary.grpc_status = value,
                _ => {}
            }
        }
        summary
    }
}

impl RequestState {
    /// Whether [`edit_response`] may write anything: nearly always not.
    pub fn may_write(&self, policy: &Policy, summary: &ResponseSummary<'_>) -> bool {
        let Some(release) = policy.release(self.decision.release) else {
            return false;
        };
        let decision = &self.decision;
        let follows_session = !release.session_pin_name.is_empty() && policy.position == Position::Edge;
        let follows_key = key_cookie(policy, release, decision).is_some();
        decision.mints
            || decision.has_token_parameter
            || matches!(decision.pin, PinAction::Now { .. })
            || policy.debug_header.is_some()
            || (release.cache_control == CacheControl::Private && decision.version != release.stable())
            || ((follows_session || follows_key) && summary.sets_cookie)
    }
}

impl Outcome {
    /// Of a response that sets no cookie.
    pub fn of(policy: &Policy, state: &RequestState, summary: &ResponseSummary<'_>) -> Self {
        let release = policy.release(state.decision.release);
        let is_stable = release.is_none_or(|release| state.decision.version == release.stable());
        let is_unavailable = summary.status == b"503" || summary.grpc_status == GRPC_UNAVAILABLE;
        let class = StatusClass::of(summary.status);
        Self {
            class,
            has_failed: class == StatusClass::ServerError || is_grpc_failure(summary.grpc_status),
            may_be_unavailable: is_unavailable && !is_stable,
            lost_session: None,
        }
    }
}

/// The cookie whose value decided a user who has no pin.
fn key_cookie<'a>(policy: &Policy, release: &'a Release, decision: &Decision) -> Option<&'a str> {
    let decides = release.stickiness == Stickiness::User && policy.position == Position::Edge;
    match decision.key.filter(|_| decides)? {
        KeyOrigin::MintedId => None,
        KeyOrigin::Key(index) => match release.identify_by.get(index)? {
            KeySource::Cookie(name) => Some(name),
            _ => None,
        },
    }
}

/// Edits a response. `now` is called only if something is written or a date is compared.
pub fn edit_response(
    policy: &Policy,
    state: &RequestState,
    response: Headers<'_>,
    now: impl Fn() -> u64,
    edits: &mut impl HeaderEdits,
) {
    if let Some(response) = Response::read(policy, state, response, &now) {
        response.edit(&now, edits);
    }
}

/// A response, read in one pass, beside the decision it belongs to.
struct Response<'a> {
    policy: &'a Policy,
    release: &'a Release,
    state: &'a RequestState,
    headers: Headers<'a>,
    session: SessionChange<'a>,
    caching: Caching<'a>,
}

impl<'a> Response<'a> {
    fn read(
        policy: &'a Policy,
        state: &'a RequestState,
        response: Headers<'a>,
        now: &impl Fn() -> u64,
    ) -> Option<Self> {
        let release = policy.release(state.decision.release)?;
        let session_cookie = release.session_cookie.as_deref().filter(|_| release.pin.is_some());
        let mut session = SessionChange::Untouched;
        let mut caching = Caching::default();
        for (name, value) in &response {
            match (name, session_cookie) {
                (b"set-cookie", Some(cookie)) => session = session.or_by(value, cookie, now),
                _ => caching.note(name, value),
            }
        }
        Some(Self { policy, release, state, headers: response, session, caching })
    }

    fn edit(&self, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) {
        let decision = &self.state.decision;
        let reusable = self.caching.may_be_reused(self.state.is_navigation, self.state.is_cacheable_method);
        let mut added = self.edit_pin(reusable, now, edits);
        if (decision.mints && !reusable) || self.key_changes(now) {
            added |= self.add_minted_id(now(), edits);
        }
        self.add_token_cookie(now, edits);
        if decision.has_token_parameter {
            // The URL is a tester's: also where a cookie decided, as on a reload.
            edits.set("referrer-policy", b"no-referrer");
            added = true;
        }
        let is_stable = decision.version == self.release.stable();
        let guarded = self.release.cache_control == CacheControl::Private && !is_stable;
        if (added || guarded) && !self.caching.is_private() {
            self.caching.make_private(edits);
        }
        if let Some(header) = &self.policy.debug_header {
            edits.set(header, labels::debug(self.release, decision).as_bytes());
        }
    }

    /// Whether this response changes or deletes the cookie that decided: its user keeps the identity so far in a minted id.
    ///
    /// Applications that encrypt a session into its cookie change it with each response.
    fn key_changes(&self, now: &impl Fn() -> u64) -> bool {
        let Some(key) = key_cookie(self.policy, self.release, &self.state.decision) else {
            return false;
        };
        let lines = self.headers.iter().filter(|(name, _)| *name == b"set-cookie");
        let cookies = lines.filter_map(|(_, line)| SetCookie::read(line));
        cookies.filter(|cookie| cookie.name == key.as_bytes()).last().is_some_and(|cookie| {
            let same =
                Some(self.policy.identity_of(self.release, cookie.value)) == self.state.decision.identity;
            !same || cookie.deletes(now)
        })
    }

    fn add_minted_id(&self, now: u64, edits: &mut impl HeaderEdits) -> bool {
        let signed = self
            .state
            .decision
            .identity
            .and_then(|identity| self.policy.ring.sign("", &Seal::id(identity, now)));
        let Some(text) = signed else {
            return false;
        };
        let age = Some(self.policy.id_max_age_seconds);
        edits.add("set-cookie", set_cookie::write(&self.policy.id_cookie, &text, age).as_bytes());
        true
    }

    /// Sets a token from the query as a cookie.
    fn add_token_cookie(&self, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) {
        if let (Some((text, expires)), Some(token)) = (&self.state.decision.token, &self.release.token) {
            let left = expires.saturating_sub(now());
            edits.add("set-cookie", set_cookie::write(&token.cookie, text, Some(left)).as_bytes());
        }
    }
}
