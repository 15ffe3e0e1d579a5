//! What the decision changes in the response's headers: pins, minted ids, caching.
//!
//! Session and pin cannot come from different responses: the pin is written in the response that sets the session
//! cookie, and names the version that sent it.

mod caching;
mod date;
mod set_cookie;

use crate::edit::HeaderEdits;
use crate::fuse::Waiting;
use crate::labels::{self, StatusClass};
use assignment::contract::{CacheControl, KeySource, PinConfig, Position, Stickiness};
use assignment::decide::{HostPin, KeyOrigin, PinAction, Reason};
use assignment::policy::Release;
use assignment::request::{Headers, SessionCookie, session_pin};
use assignment::seal::Seal;
use assignment::{Decision, Identity, Policy, Request};
use caching::Caching;
use set_cookie::{SessionChange, SetCookie};

/// The state of a request that its response needs.
#[derive(Clone, Debug)]
pub struct RequestState {
    /// What was decided.
    pub decision: Decision,
    /// When, in nanoseconds since 1970-01-01 UTC, where the release keeps latencies.
    pub decided_at: Option<u64>,
    /// Whether it waits for a response whose absence is a failure.
    pub waiting: Waiting,
    is_navigation: bool,
    is_cacheable_method: bool,
}

impl RequestState {
    /// The state after a decision.
    pub fn new(decision: Decision, request: &Request<'_>) -> Self {
        Self {
            decision,
            decided_at: None,
            waiting: Waiting::default(),
            is_navigation: request.is_navigation(),
            is_cacheable_method: request.is_cacheable_method(),
        }
    }
}

/// The version that sent a response, as the response reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub class: StatusClass,
    /// Whether it is the 503 that Envoy gives for a cluster without healthy pods, if its details say so too.
    pub may_be_unavailable: bool,
}

/// The headers that decide whether a response needs an edit, read in one pass. Most responses need none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseSummary<'h> {
    /// `:status`; empty if the proxy gives none.
    pub status: &'h [u8],
    pub sets_cookie: bool,
}

impl<'h> ResponseSummary<'h> {
    /// Summarises a response.
    pub fn of(response: Headers<'h>) -> Self {
        let mut summary = Self { status: b"", sets_cookie: false };
        for (name, value) in &response {
            match name {
                b":status" => summary.status = value,
                b"set-cookie" => summary.sets_cookie = true,
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
    /// Of a response with this `:status`.
    pub fn of(policy: &Policy, state: &RequestState, status: &[u8]) -> Self {
        let release = policy.release(state.decision.release);
        let is_stable = release.is_none_or(|release| state.decision.version == release.stable());
        Self { class: StatusClass::of(status), may_be_unavailable: status == b"503" && !is_stable }
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

    /// Writes or deletes the pins. Returns whether it did.
    fn edit_pin(&self, reusable: bool, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) -> bool {
        let Some(pin) = self.release.pin.as_ref().filter(|_| self.policy.position == Position::Edge) else {
            return false;
        };
        let decision = &self.state.decision;
        match (self.session, decision.pin) {
            (SessionChange::Deleted, _) => {
                self.end_session_pins(now, edits);
                self.end_host_pin(pin, edits)
            }
            (_, PinAction::Never) => false,
            (SessionChange::Set(cookie), _) => {
                let identity =
                    decision.identity.unwrap_or_else(|| self.policy.identity_of(self.release, cookie.value));
                self.pin_session(pin, identity, now, edits)
            }
            (SessionChange::Untouched, PinAction::Now { issued }) if !reusable => {
                decision.identity.is_some_and(|identity| self.add_host_pin(pin, identity, issued, edits))
            }
            (SessionChange::Untouched, PinAction::Now { .. } | PinAction::WithSession) => false,
        }
    }

    /// Pins the session that this response sets.
    ///
    /// Also pins the host, for pages that the session cookie does not reach, where no other session depends on the host's pin.
    fn pin_session(
        &self,
        pin: &PinConfig,
        identity: Identity,
        now: &impl Fn() -> u64,
        edits: &mut impl HeaderEdits,
    ) -> bool {
        let Some(text) = self.signed_pin(identity, now()) else {
            return false;
        };
        self.end_session_pins(now, edits);
        // Of a split session one pin is enough: it names the first part.
        let mut has_part = false;
        let mut value = String::new();
        let mut reaches_host = true;
        for cookie in self.session_cookies().filter(|cookie| !cookie.deletes(now)) {
            if self.is_part(&cookie) && std::mem::replace(&mut has_part, true) {
                continue;
            }
            reaches_host &= cookie.reaches_host();
            value = session_pin(cookie.value, &text);
            edits.add("set-cookie", &cookie.beside(&self.release.session_pin_name, &value));
        }
        match (self.state.decision.host_pin, self.state.decision.pin) {
            (HostPin::Unclaimed, PinAction::Now { .. }) => set_host_pin(pin, &text, edits),
            (HostPin::Absent | HostPin::OfSession | HostPin::OfAnotherSession, _) if !reaches_host => {
                set_host_pin(pin, &value, edits);
            }
            _ => {}
        }
        true
    }

    /// Deletes the pins of the sessions that this response deletes. Of a split session its last part does.
    fn end_session_pins(&self, now: &impl Fn() -> u64, edits: &mut impl HeaderEdits) {
        let lives_on = matches!(self.session, SessionChange::Set(_));
        let ended = self.session_cookies().filter(|cookie| cookie.deletes(now));
        for cookie in ended.filter(|cookie| !(lives_on && self.is_part(cookie))) {
            edits.add("set-cookie", &cookie.beside(&self.release.session_pin_name, ""));
        }
    }

    /// The lines of the response that set or delete the session cookie or a part of it.
    fn session_cookies(&self) -> impl Iterator<Item = SetCookie<'a>> {
        let session = self.release.session_cookie.as_deref().unwrap_or_default().as_bytes();
        let lines = self.headers.iter().filter(|(name, _)| *name == b"set-cookie");
        let cookies = lines.filter_map(|(_, line)| SetCookie::read(line));
        cookies.filter(move |cookie| SessionCookie::of(cookie.name, session).is_some())
    }

    fn is_part(&self, cookie: &SetCookie<'_>) -> bool {
        self.release.session_cookie.as_deref().is_some_and(|session| session.as_bytes() != cookie.name)
    }

    /// Ends the host's pin with the session that it belongs to.
    ///
    /// Sessions on other paths may depend on a pin that belongs to none: it is not deleted, but written as issued in 1970. Such a pin
    /// is past any age: it holds for a request with a session cookie, which renews it, and a request without one is decided anew.
    fn end_host_pin(&self, pin: &PinConfig, edits: &mut impl HeaderEdits) -> bool {
        let decision = &self.state.decision;
        // Without a version that can answer, the request may have a pin of another one.
        let is_kept = match decision.host_pin {
            HostPin::OfOthers | HostPin::OfAnotherSession => true,
            HostPin::Unclaimed => decision.reason == Reason::Unavailable,
            HostPin::Absent => decision.reason == Reason::Unavailable || decision.pin == PinAction::Never,
            HostPin::OfSession => false,
        };
        if is_kept {
            return false;
        }
        if let (HostPin::Unclaimed, Reason::Pin, Some(identity)) =
            (decision.host_pin, decision.reason, decision.identity)
        {
            return self.add_host_pin(pin, identity, 0, edits);
        }
        edits.add("set-cookie", set_cookie::delete(&pin.cookie).as_bytes());
        true
    }

    /// Writes a pin of the host that belongs to no session.
    fn add_host_pin(
        &self,
        pin: &PinConfig,
        identity: Identity,
        issued: u64,
        edits: &mut impl HeaderEdits,
    ) -> bool {
        let text = self.signed_pin(identity, issued);
        if let Some(text) = &text {
            set_host_pin(pin, text, edits);
        }
        text.is_some()
    }

    /// The signed pin of the version that answered.
    fn signed_pin(&self, identity: Identity, issued: u64) -> Option<String> {
        let version = self.release.versions.get(self.state.decision.version)?;
        let issued = self.release.marked_issue_time(issued, self.state.decision.session_age);
        let seal = Seal::pin(version.name.as_bytes(), version.epoch, identity, issued);
        self.policy.ring.sign(&self.release.uid, &seal)
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

fn set_host_pin(pin: &PinConfig, text: &str, edits: &mut impl HeaderEdits) {
    edits.add("set-cookie", set_cookie::write(&pin.cookie, text, pin.idle_seconds).as_bytes());
}
